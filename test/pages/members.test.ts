/** The members of groups and projects, as owners manage them in a browser. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Browser, browserOf } from '../support/browser.ts';
import { formsIn, sentBy } from '../support/html_tree.ts';
import { sent } from '../support/sent.ts';
import { world } from '../support/world.ts';

async function filledIn(browser: Browser, path: string, id: string, changes: Record<string, string>) {
  const form = formsIn((await browser.get(path)).html).find((each) => each.id === id)!;
  return browser.send(form.action, form.does[0]!, { ...sentBy(form), ...changes });
}

test('people are invited by username and by address, changed and removed in their rows', async () => {
  const here = await world();
  const { as, project, people } = here;
  const path = `/${project.full_path}/-/project_members`;
  const members = `/projects/${project.id}/members`;
  const browser = await browserOf(here, people.maintainer);
  const { outsider } = people;
  const added = await filledIn(browser, path, 'add', {
    people: `@${outsider.username}, pip@example.org`,
    access_level: '20',
    expires_at: '2099-01-01',
  });
  assert.deepEqual([added.status, added.to], [303, `${path}?done=add&tab=invited`]);
  const member = (await as('maintainer').get(`${members}/${outsider.id}`)).body;
  assert.deepEqual([member.access_level, member.expires_at], [20, '2099-01-01']);
  assert.match((await browser.get(`${path}?tab=invited`)).html, /pip@example\.org/);

  const nobody = await filledIn(browser, path, 'add', { people: 'nobody-of-this-name' });
  assert.equal(nobody.status >= 400 && nobody.status < 500, true);
  assert.deepEqual(sentBy(formsIn(nobody.html).find(({ id }) => id === 'add')!).people, ['nobody-of-this-name']);

  await filledIn(browser, path, `change-${outsider.id}`, { access_level: '30', expires_at: '' });
  const changed = (await as('maintainer').get(`${members}/${outsider.id}`)).body;
  assert.deepEqual([changed.access_level, changed.expires_at], [30, null]);
  // The rights of others come from the group.
  const { html } = await browser.get(path);
  assert.match(html, new RegExp(`Inherited from <a href="/groups/${here.group.full_path}">`));
  assert.match(html, /Direct member/);
  await filledIn(browser, path, `remove-${outsider.id}`, {});
  assert.equal((await as('maintainer').get(`${members}/${outsider.id}`)).status, 404);

  const guest = await browserOf(here, people.guest);
  const seen = (await guest.get(path)).html;
  assert.equal(
    formsIn(seen).some(({ does }) => does.includes('change') || does.includes('add')),
    false,
  );
  assert.equal((await guest.get(`${path}?tab=invited`)).status, 403);
});

test('invitations are changed, sent again and revoked', async () => {
  const here = await world();
  const { as, group, people } = here;
  const browser = await browserOf(here, people.owner);
  const path = `/groups/${group.full_path}/-/group_members`;
  await sent(as('owner').post(`/groups/${group.id}/invitations`, { email: 'pip@example.org', access_level: 20 }));
  const tab = `${path}?tab=invited`;
  const [{ id }] = (await as('owner').get(`/groups/${group.id}/invitations`)).body;
  await filledIn(browser, tab, `change_invitation-${id}`, { access_level: '30' });
  assert.equal((await as('owner').get(`/groups/${group.id}/invitations`)).body[0].access_level, 30);
  const again = await filledIn(browser, tab, `remind-${id}`, {});
  assert.equal(again.to, `${path}?tab=invited&done=remind`);
  const jobs = await here.db
    .selectFrom('graphile_worker.jobs' as never)
    .select('task_identifier' as never)
    .where('task_identifier' as never, '=', 'remind_of_invitation' as never)
    .execute();
  assert.ok(jobs.length > 0);
  await filledIn(browser, tab, `revoke-${id}`, {});
  assert.deepEqual((await as('owner').get(`/groups/${group.id}/invitations`)).body, []);
});

test('requests are approved with a role, and places are shared with groups', async () => {
  const here = await world();
  const { as, project, group, people } = here;
  const path = `/${project.full_path}/-/project_members`;
  await here.db.insertInto('access_requests').values({ user_id: people.outsider.id, project_id: project.id }).execute();
  const browser = await browserOf(here, people.owner);
  assert.match((await browser.get(path)).html, /Requests <span class="count">1<\/span>/);
  await filledIn(browser, `${path}?tab=access_requests`, `approve-${people.outsider.id}`, { access_level: '20' });
  const member = await as('owner').get(`/projects/${project.id}/members/${people.outsider.id}`);
  assert.equal(member.body.access_level, 20);

  const other = await sent(as('owner').post('/groups', { name: 'Press', path: `press-${group.id}` }));
  const shared = await filledIn(browser, `${path}?tab=groups`, 'share', {
    group_id: String(other.id),
    group_access: '30',
  });
  assert.equal(shared.to, `${path}?tab=groups&done=share`);
  const { html } = await browser.get(`${path}?tab=groups`);
  assert.match(html, /Its members are at most Developer/);
  await filledIn(browser, `${path}?tab=groups`, `unshare-${other.id}`, {});
  assert.deepEqual((await as('owner').get(`/projects/${project.id}`)).body.shared_with_groups, []);
});
