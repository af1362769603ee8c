import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { fileUrl, onMain } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import type { World } from '../../../../test/support/world.ts';

const urlsOf = ({ project, group }: World) =>
  [`/groups/${group.id}`, `/projects/${project.id}`].map((place) => `${place}/protected_branches`);

test('a group protects branches of all projects below, which show it and cannot change it', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  const [ofGroup, ofProject] = urlsOf(here) as [string, string];
  const write = async (persona: 'developer' | 'maintainer', branch: string) =>
    (await as(persona).post(fileUrl(project, `${Math.random()}`), { ...onMain, branch, content: 'x' })).status;
  assert.equal(await write('developer', 'topic'), 201);
  const added = await as('owner').post(ofGroup, { name: 'top*', push_access_level: 40, merge_access_level: 0 });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  assert.deepEqual([added.body.name, added.body.inherited], ['top*', false]);
  assert.deepEqual((await as('owner').get(ofGroup)).body, [added.body]);
  assert.deepEqual((await as('owner').get(`${ofGroup}/top*`)).body, added.body);
  assert.equal(await write('developer', 'topic'), 400);
  assert.equal(await write('maintainer', 'topic'), 201);
  const branch = (await as('developer').get(`/projects/${project.id}/repository/branches/topic`)).body;
  assert.deepEqual([branch.protected, branch.can_push], [true, false]);

  const shown = (await as('maintainer').get(ofProject)).body;
  assert.deepEqual(
    shown.map(({ name, inherited }: { name: string; inherited: boolean }) => [name, inherited]),
    [
      ['main', false],
      ['top*', true],
    ],
  );
  const text = '403 Forbidden - The protection is that of the group.';
  for (const refused of [
    await as('maintainer').patch(`${ofProject}/top*`, { allow_force_push: true }),
    await as('maintainer').delete(`${ofProject}/top*`),
  ])
    assert.deepEqual([refused.status, refused.body.message], [403, text]);

  await sent(as('maintainer').post(ofProject, { name: 'topic', push_access_level: 30 }));
  assert.equal(await write('developer', 'topic'), 400, 'the stricter one wins');
  const entries = [{ id: added.body.push_access_levels[0].id, access_level: 30 }];
  const changed = await sent(
    as('owner').patch(`${ofGroup}/top*`, { allowed_to_push: entries, allow_force_push: true }),
  );
  assert.deepEqual([changed.push_access_levels[0].access_level, changed.allow_force_push], [30, true]);
  assert.equal(await write('developer', 'topic'), 201);
  assert.equal((await as('owner').delete(`${ofGroup}/top*`)).status, 204);
  assert.equal((await as('owner').get(`${ofGroup}/top*`)).status, 404);
  assert.equal((await as('maintainer').get(ofProject)).body.length, 2);
});

test('the protections of a group decide on merging', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  const [ofGroup] = urlsOf(here) as [string, string];
  const { iid } = await addMergeRequest(here);
  const url = `/projects/${project.id}/merge_requests/${iid}`;
  await sent(as('owner').post(ofGroup, { name: 'main', merge_access_level: 0, push_access_level: 0 }));
  assert.equal((await as('maintainer').get(url)).body.user.can_merge, false);
  assert.equal((await as('maintainer').put(`${url}/merge`)).status, 401);
  assert.equal((await as('owner').delete(`${ofGroup}/main`)).status, 204);
  assert.equal((await as('maintainer').put(`${url}/merge`)).status, 200);
});

test('only owners of top-level groups protect branches of groups, each name once', async () => {
  const here = await worldWithTopic();
  const { as, group, people } = here;
  const [ofGroup] = urlsOf(here) as [string, string];
  for (const [persona, status] of [
    ['anonymous', 401],
    ['maintainer', 403],
  ] as const)
    assert.equal((await as(persona).get(ofGroup)).status, status);
  const below = await sent(as('owner').post('/groups', { name: 'Below', path: `b-${group.id}`, parent_id: group.id }));
  const refused = await as('owner').post(`/groups/${below.id}/protected_branches`, { name: 'main' });
  assert.deepEqual([refused.status, refused.body.message], [400, '400 Bad request - Only top-level groups have this']);
  const both = await Promise.all([1, 2].map(() => as('owner').post(ofGroup, { name: 'main' })));
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [201, 409]);
  const outsider = [{ user_id: people.outsider.id }];
  const stranger = await as('owner').post(ofGroup, { name: 'x', allowed_to_push: outsider });
  assert.deepEqual(
    [stranger.status, stranger.body.message],
    [422, 'Push access levels user is not a member of the group'],
  );
});
