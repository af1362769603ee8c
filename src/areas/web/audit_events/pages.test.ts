import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserOf } from '../../../../test/support/browser.ts';
import { type World, world } from '../../../../test/support/world.ts';

const protect = ({ as, project }: World, name: string) =>
  as('maintainer').post(`/projects/${project.id}/protected_branches`, { name });

test('maintainers see who did what in a project, find it, and take it along as a file', async () => {
  const here = await world();
  const { project, people } = here;
  for (const name of ['=1+1', 'stable']) assert.equal((await protect(here, name)).status, 201);
  const browser = await browserOf(here, here.people.maintainer);
  const path = `/${project.full_path}/-/audit_events`;
  const all = await browser.get(path);
  assert.equal(all.status, 200);
  assert.match(all.html, /protected_branch_created/);
  assert.match(all.html, /added protected_branch/);
  const asked = `event_name=protected_branch_created&author_username=${people.maintainer.username}`;
  assert.match((await browser.get(`${path}?${asked}`)).html, /stable/);
  const nobody = await browser.get(`${path}?event_name=protected_branch_created&author_username=nobody`);
  assert.match(nobody.html, /No event is found/);
  assert.match((await browser.get(`${path}?created_before=2020-01-01`)).html, /No event is found/);

  const file = await browser.get(`${path}.csv?${asked}`);
  assert.equal(file.status, 200);
  assert.match(file.headers.get('content-type')!, /^text\/csv/);
  const lines = file.html.trimEnd().split('\r\n');
  assert.match(lines[0]!, /^id,created_at,event_name,author_id/);
  assert.equal(lines.length, 3);
  assert.match(lines[2]!, /,'=1\+1,added protected_branch$/);
});

test('owners see the events of a group, administrators those of the server, others neither', async () => {
  const here = await world();
  const { group, project } = here;
  assert.equal((await protect(here, 'stable')).status, 201);
  const [owner, admin, reporter, outsider] = [
    await browserOf(here, here.people.owner),
    await browserOf(here, here.people.admin),
    await browserOf(here, here.people.reporter),
    await browserOf(here, here.people.outsider),
  ];
  assert.equal((await owner.get(`/groups/${group.full_path}/-/audit_events`)).status, 200);
  const found = await admin.get(`/admin/audit_logs?entity_type=Project&entity_id=${project.id}`);
  assert.match(found.html, /protected_branch_created/);
  assert.equal((await admin.get('/admin/audit_logs.csv?entity_type=User')).status, 200);
  for (const path of [`/${project.full_path}/-/audit_events`, `/groups/${group.full_path}/-/audit_events`]) {
    assert.equal((await reporter.get(path)).status, 403);
    assert.equal((await outsider.get(path)).status, 404);
  }
  assert.equal((await owner.get('/admin/audit_logs')).status, 403);
  assert.equal((await owner.get('/admin/audit_logs.csv')).status, 403);
});
