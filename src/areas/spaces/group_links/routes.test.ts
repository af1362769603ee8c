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
async function crew(w: World) {
  const [lead, hand] = [await w.person(), await w.person()];
  const { body: top } = await lead.client.post('/groups', { name: 'Top', path: `top-${lead.id}` });
  const { body: group } = await lead.client.post('/groups', {
    name: 'Crew',
    path: 'crew',
    parent_id: top.id,
    visibility: 'private',
  });
  await lead.client.post(`/groups/${group.id}/members`, { user_id: hand.id, access_level: 40 });
  await lead.client.post(`/groups/${top.id}/members`, { user_id: w.people.owner.id, access_level: 10 });
  return { lead, hand, top, group };
}

test('members of an invited group and its ancestors have access to the group and everything in it, at most at the level of the share', async () => {
  const w = await world();
  const { lead, hand, group } = await crew(w);
  const share = `/groups/${w.group.id}/share`;
  assert.equal((await hand.client.get(`/projects/${w.project.id}`)).status, 404);
  const given = { group_id: group.id, group_access: 30, expires_at: tomorrow };
  assert.equal((await w.as('maintainer').post(share, given)).status, 403);
  assert.equal(
    (await w.as('owner').post(share, { ...given, group_access: 5 })).body.message,
    'group_access does not have a valid value',
  );
  const past = await w.as('owner').post(share, { ...given, expires_at: '2020-01-01' });
  assert.deepEqual(past.body, { message: { expires_at: ['cannot be a date in the past'] } });
  const today = await w.as('owner').post(share, { ...given, expires_at: daysFromNow(0) });
  assert.deepEqual([today.status, today.body], [400, { message: { expires_at: ['must be after today'] } }]);
  assert.deepEqual((await w.as('owner').post(share, { ...given, group_id: 99_999_999 })).body, {
    message: '404 Group Not Found',
  });
  assert.equal((await hand.client.get(`/projects/${w.project.id}`)).status, 404);

  const shared = await w.as('owner').post(share, given);
  assert.equal(shared.status, 201);
  const link = {
    group_id: group.id,
    group_name: 'Crew',
    group_full_path: group.full_path,
    group_access_level: 30,
    expires_at: tomorrow,
  };
  assert.deepEqual(shared.body.shared_with_groups, [link]);
  assert.equal((await w.as('owner').post(share, given)).status, 409);
  assert.deepEqual((await w.as('guest').get(`/groups/${w.group.id}`)).body.shared_with_groups, [], 'a hidden group stays hidden');

  const all = (await w.as('owner').get(`/projects/${w.project.id}/members/all`, { per_page: 100 })).body;
  const level = (id: number) => all.find((member: { id: number }) => member.id === id);
  assert.deepEqual(
    [hand.id, lead.id].map((id) => [level(id).access_level, level(id).expires_at]),
    [
      [30, tomorrow],
      [30, tomorrow],
    ],
  );
  assert.match(level(hand.id).created_at, /Z$/);
  assert.equal((await hand.client.get(`/groups/${w.group.id}/members/all/${hand.id}`)).body.access_level, 30);
  assert.equal((await hand.client.get(`/groups/${w.group.id}/members/${hand.id}`)).status, 404);

  await lead.client.put(`/groups/${group.id}/members/${hand.id}`, { access_level: 20 });
  assert.equal((await hand.client.get(`/projects/${w.project.id}/members/all/${hand.id}`)).body.access_level, 20);
  await lead.client.delete(`/groups/${group.id}/members/${hand.id}`);
  assert.equal((await hand.client.get(`/projects/${w.project.id}`)).status, 404);

  assert.equal((await w.as('owner').delete(`${share}/${group.id}`)).status, 204);
  assert.deepEqual((await w.as('owner').delete(`${share}/${group.id}`)).body, { message: '404 Group Link Not Found' });
  assert.equal((await lead.client.get(`/projects/${w.project.id}`)).status, 404);
});

test('a project is shared with a group, unless an ancestor group prevents sharing', async () => {
  const w = await world();
  const { hand, group } = await crew(w);
  const share = `/projects/${w.project.id}/share`;
  const given = { group_id: group.id, group_access: 40 };
  await w.as('owner').put(`/groups/${w.group.id}`, { share_with_group_lock: true });
  const locked = await w.as('owner').post(share, given);
  assert.deepEqual([locked.status, locked.body], [400, { message: 'The project sharing with group is disabled' }]);
  await w.as('owner').put(`/groups/${w.group.id}`, { share_with_group_lock: false });
  assert.equal((await w.as('developer').post(share, given)).status, 403);
  assert.equal((await w.as('maintainer').post(share, given)).status, 404, 'callers who cannot see the group cannot invite it');

  const shared = await w.as('owner').post(share, given);
  assert.equal(shared.status, 201);
  const { id: _id, ...rest } = shared.body;
  assert.deepEqual(rest, { project_id: w.project.id, group_id: group.id, group_access: 40, expires_at: null });
  assert.equal((await hand.client.get(`/projects/${w.project.id}/members/all/${hand.id}`)).body.access_level, 40);
  assert.equal((await hand.client.get(`/groups/${w.group.id}`)).status, 200, 'members inside a group can see it');
  assert.deepEqual(idsOf((await hand.client.get(`/groups/${group.id}/projects`)).body), [w.project.id]);
  assert.deepEqual(idsOf((await hand.client.get(`/groups/${group.id}/projects`, { with_shared: false })).body), []);
  assert.deepEqual(idsOf((await hand.client.get(`/groups/${group.id}/projects/shared`)).body), [w.project.id]);
  assert.deepEqual(idsOf((await hand.client.get(`/groups/${group.id}`)).body.shared_projects), [w.project.id]);
  assert.equal((await w.as('owner').delete(`${share}/${group.id}`)).status, 204);
  assert.equal((await hand.client.get(`/projects/${w.project.id}`)).status, 404);
});

test('shares are listed from both sides', async () => {
  const w = await world();
  const { hand, group } = await crew(w);
  const { body: below } = await w.as('owner').post('/groups', { name: 'below', path: 'below', parent_id: w.group.id });
  const { body: project } = await w.as('owner').post('/projects', { name: 'deep', namespace_id: below.id });
  await w.as('owner').post(`/groups/${w.group.id}/share`, { group_id: group.id, group_access: 20 });
  const ids = async (path: string, parameters: object = {}) => idsOf((await w.as('owner').get(path, { ...parameters })).body);
  assert.deepEqual(idsOf((await hand.client.get(`/groups/${group.id}/groups/shared`)).body), [w.group.id]);
  assert.deepEqual(await ids(`/groups/${w.group.id}/invited_groups`), [group.id]);
  assert.deepEqual(await ids(`/groups/${below.id}/invited_groups`), [group.id]);
  assert.deepEqual(await ids(`/groups/${below.id}/invited_groups`, { relation: ['direct'] }), []);
  assert.deepEqual(await ids(`/groups/${below.id}/invited_groups`, { relation: ' ' }), [group.id]);
  assert.deepEqual(await ids(`/groups/${below.id}/invited_groups`, { relation: ['inherited'], search: 'cre' }), [group.id]);
  assert.deepEqual(await ids(`/projects/${project.id}/invited_groups`), [group.id]);
  assert.deepEqual(await ids(`/projects/${project.id}/invited_groups`, { relation: ['direct'] }), []);
  assert.deepEqual(await ids(`/projects/${project.id}/groups`), [w.group.id, below.id]);
  assert.deepEqual(await ids(`/projects/${project.id}/groups`, { with_shared: true }), [w.group.id, group.id, below.id]);
  assert.deepEqual(await ids(`/projects/${project.id}/groups`, { with_shared: true, shared_min_access_level: 30 }), [
    w.group.id,
    below.id,
  ]);
  assert.deepEqual(await ids(`/projects/${project.id}/share_locations`, { search: 'crew' }), [group.id]);
  assert.deepEqual(idsOf((await w.as('guest').get(`/groups/${w.group.id}/invited_groups`)).body), []);
});

test('an expired share is not in force, can be renewed, and is deleted by the daily job', async () => {
  const w = await world();
  const { hand, group } = await crew(w);
  const given = { group_id: group.id, group_access: 20, expires_at: tomorrow };
  await w.as('owner').post(`/groups/${w.group.id}/share`, given);
  assert.equal((await hand.client.get(`/groups/${w.group.id}`)).status, 200);
  const end = async () => {
    await sql`update group_links set expires_at = current_date where invited_group_id = ${group.id}`.execute(w.db);
    await sql`update group_authorizations set expires_at = current_date where group_id = ${w.group.id} and user_id = ${hand.id}`.execute(
      w.db,
    );
    await sql`update project_authorizations set expires_at = current_date where project_id = ${w.project.id} and user_id = ${hand.id}`.execute(
      w.db,
    );
  };
  await end();
  assert.equal((await hand.client.get(`/groups/${w.group.id}`)).status, 404);
  assert.deepEqual((await w.as('owner').get(`/groups/${w.group.id}`)).body.shared_with_groups, []);
  assert.equal((await w.as('owner').post(`/groups/${w.group.id}/share`, given)).status, 201);
  assert.equal((await hand.client.get(`/groups/${w.group.id}`)).status, 200);
  await end();
  await performJob(w.services, removeExpiredGroupLinks);
  const left = await w.db.selectFrom('group_links').select('id').where('invited_group_id', '=', group.id).execute();
  assert.deepEqual(left, []);
});
