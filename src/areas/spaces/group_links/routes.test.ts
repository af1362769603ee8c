import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob } from '../../../../test/support/jobs.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';
import { removeExpiredGroupLinks } from './index.ts';

const tomorrow = daysFromNow(2);
const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id);

/** A group of another user, with a member who is a Maintainer there. */
async function crew(here: World) {
  const [lead, hand] = [await here.person(), await here.person()];
  const { body: top } = await lead.client.post('/groups', { name: 'Top', path: `top-${lead.id}` });
  const { body: group } = await lead.client.post('/groups', {
    name: 'Crew',
    path: 'crew',
    parent_id: top.id,
    visibility: 'private',
  });
  await lead.client.post(`/groups/${group.id}/members`, { user_id: hand.id, access_level: 40 });
  await lead.client.post(`/groups/${top.id}/members`, { user_id: here.people.owner.id, access_level: 10 });
  return { lead, hand, top, group };
}

test('members of an invited group and its ancestors have access to the group and everything in it, at most at the level of the share', async () => {
  const here = await world();
  const { lead, hand, group } = await crew(here);
  const share = `/groups/${here.group.id}/share`;
  assert.equal((await hand.client.get(`/projects/${here.project.id}`)).status, 404);
  const given = { group_id: group.id, group_access: 30, expires_at: tomorrow };
  assert.equal((await here.as('maintainer').post(share, given)).status, 403);
  assert.equal(
    (await here.as('owner').post(share, { ...given, group_access: 5 })).body.message,
    'group_access does not have a valid value',
  );
  const past = await here.as('owner').post(share, { ...given, expires_at: '2020-01-01' });
  assert.deepEqual(past.body, { message: { expires_at: ['cannot be a date in the past'] } });
  const today = await here.as('owner').post(share, { ...given, expires_at: daysFromNow(0) });
  assert.deepEqual([today.status, today.body], [400, { message: { expires_at: ['must be after today'] } }]);
  assert.deepEqual((await here.as('owner').post(share, { ...given, group_id: 99_999_999 })).body, {
    message: '404 Group Not Found',
  });
  assert.equal((await hand.client.get(`/projects/${here.project.id}`)).status, 404);

  const shared = await here.as('owner').post(share, given);
  assert.equal(shared.status, 201);
  const link = {
    group_id: group.id,
    group_name: 'Crew',
    group_full_path: group.full_path,
    group_access_level: 30,
    expires_at: tomorrow,
  };
  assert.deepEqual(shared.body.shared_with_groups, [link]);
  assert.equal((await here.as('owner').post(share, given)).status, 409);
  assert.deepEqual(
    (await here.as('guest').get(`/groups/${here.group.id}`)).body.shared_with_groups,
    [],
    'a hidden group stays hidden',
  );

  const all = (await here.as('owner').get(`/projects/${here.project.id}/members/all`, { per_page: 100 })).body;
  const level = (id: number) => all.find((member: { id: number }) => member.id === id);
  assert.deepEqual(
    [hand.id, lead.id].map((id) => [level(id).access_level, level(id).expires_at]),
    [
      [30, tomorrow],
      [30, tomorrow],
    ],
  );
  assert.match(level(hand.id).created_at, /Z$/);
  assert.equal((await hand.client.get(`/groups/${here.group.id}/members/all/${hand.id}`)).body.access_level, 30);
  assert.equal((await hand.client.get(`/groups/${here.group.id}/members/${hand.id}`)).status, 404);

  await lead.client.put(`/groups/${group.id}/members/${hand.id}`, { access_level: 20 });
  assert.equal((await hand.client.get(`/projects/${here.project.id}/members/all/${hand.id}`)).body.access_level, 20);
  await lead.client.delete(`/groups/${group.id}/members/${hand.id}`);
  assert.equal((await hand.client.get(`/projects/${here.project.id}`)).status, 404);

  assert.equal((await here.as('owner').delete(`${share}/${group.id}`)).status, 204);
  assert.deepEqual((await here.as('owner').delete(`${share}/${group.id}`)).body, {
    message: '404 Group Link Not Found',
  });
  assert.equal((await lead.client.get(`/projects/${here.project.id}`)).status, 404);
});

test('a project is shared with a group, unless an ancestor group prevents sharing', async () => {
  const here = await world();
  const { hand, group } = await crew(here);
  const share = `/projects/${here.project.id}/share`;
  const given = { group_id: group.id, group_access: 40 };
  await here.as('owner').put(`/groups/${here.group.id}`, { share_with_group_lock: true });
  const locked = await here.as('owner').post(share, given);
  assert.deepEqual([locked.status, locked.body], [400, { message: 'The project sharing with group is disabled' }]);
  await here.as('owner').put(`/groups/${here.group.id}`, { share_with_group_lock: false });
  assert.equal((await here.as('developer').post(share, given)).status, 403);
  assert.equal(
    (await here.as('maintainer').post(share, given)).status,
    404,
    'callers who cannot see the group cannot invite it',
  );

  const shared = await here.as('owner').post(share, given);
  assert.equal(shared.status, 201);
  const { id: _id, ...rest } = shared.body;
  assert.deepEqual(rest, { project_id: here.project.id, group_id: group.id, group_access: 40, expires_at: null });
  assert.equal((await hand.client.get(`/projects/${here.project.id}/members/all/${hand.id}`)).body.access_level, 40);
  assert.equal((await hand.client.get(`/groups/${here.group.id}`)).status, 200, 'members inside a group can see it');
  assert.deepEqual(idsOf((await hand.client.get(`/groups/${group.id}/projects`)).body), [here.project.id]);
  assert.deepEqual(idsOf((await hand.client.get(`/groups/${group.id}/projects`, { with_shared: false })).body), []);
  assert.deepEqual(idsOf((await hand.client.get(`/groups/${group.id}/projects/shared`)).body), [here.project.id]);
  assert.deepEqual(idsOf((await hand.client.get(`/groups/${group.id}`)).body.shared_projects), [here.project.id]);
  assert.equal((await here.as('owner').delete(`${share}/${group.id}`)).status, 204);
  assert.equal((await hand.client.get(`/projects/${here.project.id}`)).status, 404);
});

test('shares are listed from both sides', async () => {
  const here = await world();
  const { hand, group } = await crew(here);
  const { body: below } = await here
    .as('owner')
    .post('/groups', { name: 'below', path: 'below', parent_id: here.group.id });
  const { body: project } = await here.as('owner').post('/projects', { name: 'deep', namespace_id: below.id });
  await here.as('owner').post(`/groups/${here.group.id}/share`, { group_id: group.id, group_access: 20 });
  const ids = async (path: string, parameters: object = {}) =>
    idsOf((await here.as('owner').get(path, { ...parameters })).body);
  assert.deepEqual(idsOf((await hand.client.get(`/groups/${group.id}/groups/shared`)).body), [here.group.id]);
  assert.deepEqual(await ids(`/groups/${here.group.id}/invited_groups`), [group.id]);
  assert.deepEqual(await ids(`/groups/${below.id}/invited_groups`), [group.id]);
  assert.deepEqual(await ids(`/groups/${below.id}/invited_groups`, { relation: ['direct'] }), []);
  assert.deepEqual(await ids(`/groups/${below.id}/invited_groups`, { relation: ' ' }), [group.id]);
  assert.deepEqual(await ids(`/groups/${below.id}/invited_groups`, { relation: ['inherited'], search: 'cre' }), [
    group.id,
  ]);
  assert.deepEqual(await ids(`/projects/${project.id}/invited_groups`), [group.id]);
  assert.deepEqual(await ids(`/projects/${project.id}/invited_groups`, { relation: ['direct'] }), []);
  assert.deepEqual(await ids(`/projects/${project.id}/groups`), [here.group.id, below.id]);
  assert.deepEqual(await ids(`/projects/${project.id}/groups`, { with_shared: true }), [
    here.group.id,
    group.id,
    below.id,
  ]);
  assert.deepEqual(await ids(`/projects/${project.id}/groups`, { with_shared: true, shared_min_access_level: 30 }), [
    here.group.id,
    below.id,
  ]);
  assert.deepEqual(await ids(`/projects/${project.id}/share_locations`, { search: 'crew' }), [group.id]);
  assert.deepEqual(idsOf((await here.as('guest').get(`/groups/${here.group.id}/invited_groups`)).body), []);
});

test('an expired share is not in force, can be renewed, and is deleted by the daily job', async () => {
  const here = await world();
  const { hand, group } = await crew(here);
  const given = { group_id: group.id, group_access: 20, expires_at: tomorrow };
  await here.as('owner').post(`/groups/${here.group.id}/share`, given);
  assert.equal((await hand.client.get(`/groups/${here.group.id}`)).status, 200);
  const end = async () => {
    await sql`update group_links set expires_at = current_date where invited_group_id = ${group.id}`.execute(here.db);
    await sql`update group_authorizations set expires_at = current_date where group_id = ${here.group.id} and user_id = ${hand.id}`.execute(
      here.db,
    );
    await sql`update project_authorizations set expires_at = current_date where project_id = ${here.project.id} and user_id = ${hand.id}`.execute(
      here.db,
    );
  };
  await end();
  assert.equal((await hand.client.get(`/groups/${here.group.id}`)).status, 404);
  assert.deepEqual((await here.as('owner').get(`/groups/${here.group.id}`)).body.shared_with_groups, []);
  assert.equal((await here.as('owner').post(`/groups/${here.group.id}/share`, given)).status, 201);
  assert.equal((await hand.client.get(`/groups/${here.group.id}`)).status, 200);
  await end();
  await performJob(here.services, removeExpiredGroupLinks);
  const left = await here.db.selectFrom('group_links').select('id').where('invited_group_id', '=', group.id).execute();
  assert.deepEqual(left, []);
});
