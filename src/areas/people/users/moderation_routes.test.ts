import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type World, world } from '../../../../test/support/world.ts';

const stateOf = async ({ db }: World, id: number) =>
  (await db.selectFrom('users').select('state').where('id', '=', id).executeTakeFirstOrThrow()).state;
const putInto = ({ db }: World, id: number, columns: object) =>
  db.updateTable('users').set(columns).where('id', '=', id).execute();

test('an inactive user is deactivated and activated', async () => {
  const here = await world();
  const { id, client } = await here.person();
  const admin = here.as('admin');
  assert.equal((await client.get('/user')).status, 200);
  const busy = await admin.post(`/users/${id}/deactivate`);
  assert.equal(busy.status, 403);
  assert.deepEqual(busy.body, {
    message: 'The user you are trying to deactivate has been active in the past 90 days and cannot be deactivated',
  });
  assert.equal(await stateOf(here, id), 'active');

  await putInto(here, id, { last_activity_on: '2020-01-01' });
  assert.deepEqual(
    [(await admin.post(`/users/${id}/deactivate`)).body, await stateOf(here, id)],
    [true, 'deactivated'],
  );
  assert.equal((await admin.post(`/users/${id}/deactivate`)).body, null);
  assert.equal((await client.get('/user')).status, 403);
  const woken = await admin.post(`/users/${id}/activate`);
  assert.deepEqual([woken.status, woken.body], [201, true]);
  assert.equal((await client.get('/user')).status, 200);
});

test('a blocked user cannot be deactivated, activated or banned', async () => {
  const here = await world();
  const { id } = await here.person();
  await here.as('admin').post(`/users/${id}/block`);
  const refusals = {
    deactivate: 'Error occurred. A blocked user cannot be deactivated',
    activate: 'Error occurred. A blocked user must be unblocked to be activated',
    ban: 'You cannot ban blocked users.',
    unban: 'You cannot unban blocked users.',
  };
  for (const [action, message] of Object.entries(refusals)) {
    const answer = await here.as('admin').post(`/users/${id}/${action}`);
    assert.deepEqual([answer.status, answer.body], [403, { message }]);
  }
  assert.equal(await stateOf(here, id), 'blocked');
});

test('a banned user is refused until they are unbanned', async () => {
  const here = await world();
  const { id, client } = await here.person();
  const banned = await here.as('admin').post(`/users/${id}/ban`);
  assert.deepEqual([banned.status, banned.body], [201, true]);
  assert.equal((await client.get('/user')).status, 403);
  assert.deepEqual((await here.as('admin').post(`/users/${id}/unblock`)).body, false);
  assert.deepEqual((await here.as('admin').post(`/users/${id}/unban`)).body, true);
  assert.equal((await client.get('/user')).status, 200);
});

test('a pending user is approved once', async () => {
  const here = await world();
  const { id, client } = await here.person();
  await putInto(here, id, { state: 'blocked_pending_approval' });
  const admitted = await here.as('admin').post(`/users/${id}/approve`);
  assert.deepEqual([admitted.status, admitted.body], [201, { message: 'Success', success: true }]);
  assert.equal((await client.get('/user')).status, 200);
  const again = await here.as('admin').post(`/users/${id}/approve`);
  assert.deepEqual(
    [again.status, again.body],
    [409, { message: 'The user you are trying to approve is not pending approval' }],
  );
  assert.equal((await here.as('admin').post('/users/99999999/approve')).status, 404);
});

test('memberships of a user are listed for administrators, and counted for the user', async () => {
  const here = await world();
  const { people, group, project } = here;
  const own = await here.as('developer').post('/projects', { name: 'mine' });
  await here.as('owner').post(`/projects/${project.id}/members`, { user_id: people.developer.id, access_level: 40 });
  const url = `/users/${people.developer.id}`;
  const all = [
    { source_id: group.id, source_name: group.path, source_type: 'Namespace', access_level: 30 },
    { source_id: project.id, source_name: project.path, source_type: 'Project', access_level: 40 },
    { source_id: own.body.id, source_name: 'mine', source_type: 'Project', access_level: 50 },
  ];
  assert.deepEqual((await here.as('admin').get(`${url}/memberships`)).body, all);
  assert.deepEqual((await here.as('admin').get(`${url}/memberships`, { type: 'Namespace' })).body, all.slice(0, 1));
  assert.equal((await here.as('developer').get(`${url}/memberships`)).status, 403);

  const counts = { groups_count: 1, projects_count: 2 };
  assert.deepEqual((await here.as('developer').get(`${url}/associations_count`)).body, counts);
  assert.deepEqual((await here.as('admin').get(`${url}/associations_count`)).body, counts);
  assert.equal((await here.as('owner').get(`${url}/associations_count`)).status, 403);
});
