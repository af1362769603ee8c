import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, nextPath } from '../../../../test/support/client.ts';
import { type World, world } from '../../../../test/support/world.ts';

const namesIn = ({ body }: Answer): string[] => body.map(({ event_name }: { event_name: string }) => event_name);
const targetsIn = ({ body }: Answer): string[] =>
  body.map(({ details }: { details: { target_details: string } }) => details.target_details);

/** Protects branches, each by a persona, the last one as the newest event. */
async function protect({ as, project }: World, names: string[], persona: 'maintainer' | 'owner' = 'maintainer') {
  for (const name of names) {
    const { status } = await as(persona).post(`/projects/${project.id}/protected_branches`, { name });
    assert.equal(status, 201);
  }
}

test('an event says who did what to what, and when', async () => {
  const here = await world();
  const { as, project, people } = here;
  await protect(here, ['stable']);
  const { status, body } = await as('owner').get(
    `/projects/${project.id}/audit_events?event_name=protected_branch_created`,
  );
  assert.equal(status, 200);
  const [event, ...others] = body;
  assert.equal(others.length, 0);
  const { id, created_at, details, ...rest } = event;
  assert.deepEqual(rest, {
    author_id: people.maintainer.id,
    entity_id: project.id,
    entity_type: 'Project',
    event_name: 'protected_branch_created',
  });
  const { target_id, author_name, author_email, ip_address, ...said } = details;
  assert.deepEqual(said, {
    event_name: 'protected_branch_created',
    author_class: 'User',
    target_type: 'ProtectedBranch',
    target_details: 'stable',
    add: 'protected_branch',
    entity_path: project.full_path,
  });
  assert.match(ip_address, /^(127\.0\.0\.1|::1)$/);
  assert.ok(Math.abs(Date.now() - Date.parse(created_at)) < 600_000);
  for (const [persona, path] of [
    ['maintainer', `/projects/${project.id}/audit_events/${id}`],
    ['admin', `/audit_events/${id}`],
  ] as const)
    assert.deepEqual((await as(persona).get(path)).body, event);
});

test('maintainers see the events of a project, developers their own, others none', async () => {
  const here = await world();
  const { as, project, people } = here;
  const url = `/projects/${project.id}/audit_events`;
  await protect(here, ['one', 'two']);
  assert.deepEqual(targetsIn(await as('maintainer').get(`${url}?event_name=protected_branch_created`)), ['two', 'one']);
  assert.deepEqual((await as('developer').get(url)).body, []);
  const others = await as('developer').get(`${url}?author_id=${people.maintainer.id}`);
  assert.deepEqual([others.status, others.body], [200, []]);
  assert.equal((await as('reporter').get(url)).status, 403);
  assert.equal((await as('outsider').get(url)).status, 404);
  assert.equal((await as('anonymous').get(url)).status, 401);
  const { body } = await as('maintainer').get(url);
  assert.equal((await as('developer').get(`${url}/${body[0].id}`)).status, 403);
});

test('owners see the events of a group itself, and not of what is in it', async () => {
  const here = await world();
  const { as, group } = here;
  await protect(here, ['in-the-project']);
  const url = `/groups/${group.id}/audit_events`;
  const { body: project_events } = await as('owner').get(`/projects/${here.project.id}/audit_events`);
  const listed = await as('owner').get(url);
  assert.equal(listed.status, 200);
  assert.ok(!namesIn(listed).includes('protected_branch_created'));
  const refused = await as('owner').get(`${url}/${project_events[0].id}`);
  assert.deepEqual([refused.status, refused.body], [404, { message: '404 Audit Event Not Found' }]);
  assert.deepEqual((await as('maintainer').get(url)).body, []);
  assert.equal((await as('reporter').get(url)).status, 403);
  assert.equal((await as('maintainer').get(`${url}/1`)).status, 403);
  assert.equal((await as('outsider').get(url)).status, 404);
});

test('only administrators see the events of the server, by entity if they wish', async () => {
  const here = await world();
  const { as, project, group } = here;
  await protect(here, ['stable']);
  assert.equal((await as('owner').get('/audit_events')).status, 403);
  assert.equal((await as('anonymous').get('/audit_events')).status, 401);
  const own = await as('admin').get(
    `/audit_events?entity_type=Project&entity_id=${project.id}&event_name=protected_branch_created`,
  );
  assert.deepEqual(targetsIn(own), ['stable']);
  const other = await as('admin').get(
    `/audit_events?entity_type=Group&entity_id=${group.id}&event_name=protected_branch_created`,
  );
  assert.deepEqual(other.body, []);
  for (const [query, message] of [
    ['entity_id=1', 'entity_type is missing'],
    ['entity_type=Issue', 'entity_type does not have a valid value'],
    ['created_after=yesterday', 'created_after is invalid'],
    ['entity_type=User&entity_id=x', 'entity_id is invalid'],
    ['order_by=author_id', 'order_by does not have a valid value'],
  ]) {
    const refused = await as('admin').get(`/audit_events?${query}`);
    assert.deepEqual([refused.status, refused.body], [400, { message, error: message }], query);
  }
  const gone = await as('admin').get('/audit_events/999999999999');
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Audit Event Not Found' }]);
});

test('events are found by the time and read in pages, by number and by keyset', async () => {
  const here = await world();
  const { as, project } = here;
  const names = ['one', 'two', 'three', 'four', 'five'];
  await protect(here, names);
  const url = `/projects/${project.id}/audit_events`;
  const only = 'event_name=protected_branch_created';
  const all = (await as('owner').get(`${url}?${only}`)).body;
  const [, , third] = all;
  const between = await as('owner').get(
    `${url}?${only}&created_after=${third.created_at}&created_before=${third.created_at}`,
  );
  assert.ok(targetsIn(between).includes('three'));
  assert.ok(!targetsIn(between).includes('one'));

  const second = await as('owner').get(`${url}?${only}&per_page=2&page=2`);
  assert.deepEqual(targetsIn(second), ['three', 'two']);
  assert.deepEqual([second.headers.get('x-total'), second.headers.get('x-next-page')], ['5', '3']);

  const walked: string[] = [];
  let answer = await as('owner').get(`${url}?${only}&pagination=keyset&order_by=id&per_page=2`);
  assert.equal(answer.headers.get('x-total'), null);
  for (;;) {
    walked.push(...targetsIn(answer));
    const next = nextPath(answer);
    if (next === undefined) break;
    answer = await as('owner').get(next);
  }
  assert.deepEqual(walked, names.toReversed());
});
