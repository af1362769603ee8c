import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';
import { removeUser } from '../../people/users/index.ts';
import { removeExpiredMemberships } from '../../spaces/members/index.ts';
import { removeOldEvents } from './index.ts';

/** The events of a project, oldest first: author, action and kind of target. */
async function recorded({ db }: Pick<World, 'db'>, project_id: number): Promise<(string | number | null)[][]> {
  const rows = await db
    .selectFrom('events')
    .select(['author_id', 'action', 'target_type', 'target_id'])
    .where('project_id', '=', project_id)
    .orderBy('id')
    .execute();
  return rows.map(Object.values);
}

test('the creation of a project is recorded for its owner', async () => {
  const here = await world();
  const { outsider, reporter } = here.people;
  const own = (await here.as('outsider').post('/projects', { name: 'own' })).body;
  assert.deepEqual(await recorded(here, own.id), [[outsider.id, 'created', 'Project', own.id]]);
  const given = (await here.as('admin').post(`/projects/user/${outsider.id}`, { name: 'given' })).body;
  assert.deepEqual(await recorded(here, given.id), [[outsider.id, 'created', 'Project', given.id]]);
  const fork = (await here.as('reporter').post(`/projects/${here.project.id}/fork`, { path: 'copy' })).body;
  assert.deepEqual(await recorded(here, fork.id), [[reporter.id, 'created', 'Project', fork.id]]);

  const { rows: before } = await sql<{ count: number }>`select count(*) from events`.execute(here.db);
  assert.equal((await here.as('outsider').post('/projects', { name: 'own' })).status, 400);
  const { rows: after } = await sql<{ count: number }>`select count(*) from events`.execute(here.db);
  assert.deepEqual(after, before, 'what did not happen is not told');
});

test('a transfer is recorded for the user who made it', async () => {
  const here = await world();
  const { id } = (await here.as('owner').post('/projects', { name: 'travelling' })).body;
  const moved = await here.as('owner').put(`/projects/${id}/transfer`, { namespace: here.group.id });
  assert.equal(moved.status, 200);
  assert.deepEqual(await recorded(here, id), [
    [here.people.owner.id, 'created', 'Project', id],
    [here.people.owner.id, 'transferred', 'Project', id],
  ]);
});

test('project memberships are recorded as events of the member, group memberships are not recorded', async () => {
  const here = await world();
  const { id } = here.project;
  const url = `/projects/${id}`;
  const [first, second, third] = [await here.person(), await here.person(), await here.person()];
  const before = (await recorded(here, id)).length;
  const since = async () => (await recorded(here, id)).slice(before);

  await here.as('owner').post(`/groups/${here.group.id}/members`, { user_id: first.id, access_level: 20 });
  await here.as('owner').delete(`/groups/${here.group.id}/members/${first.id}`);
  assert.deepEqual(await since(), []);

  await here.as('owner').post(`${url}/members`, { user_id: first.id, access_level: 20 });
  await here.as('owner').post(`${url}/members`, { user_id: [first.id, second.id], access_level: 30 });
  assert.equal((await here.as('owner').post(`${url}/members`, { user_id: first.id, access_level: 20 })).status, 409);
  await here.as('owner').put(`${url}/members/${first.id}`, { access_level: 20 });
  assert.deepEqual(await since(), [
    [first.id, 'joined', 'Project', id],
    [second.id, 'joined', 'Project', id],
  ]);

  await here.as('owner').put(url, { visibility: 'private', request_access_enabled: true });
  await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', id).execute();
  assert.equal((await third.client.post(`${url}/access_requests`)).status, 201);
  assert.equal((await here.as('owner').put(`${url}/access_requests/${third.id}/approve`)).status, 201);
  assert.deepEqual((await since()).slice(2), [[third.id, 'joined', 'Project', id]]);

  await first.client.delete(`${url}/members/${first.id}`);
  await here.as('owner').delete(`${url}/members/${second.id}`);
  await here.db
    .updateTable('members')
    .set({ expires_at: daysFromNow(-1) })
    .where('user_id', '=', third.id)
    .execute();
  assert.equal((await since()).length, 5);
  await performJob(here.services, removeExpiredMemberships);
  assert.deepEqual((await since()).slice(3), [
    [first.id, 'left', 'Project', id],
    [second.id, 'left', 'Project', id],
    [third.id, 'expired', 'Project', id],
  ]);
});

test('leaving a group also leaves its projects, and imported members join', async () => {
  const here = await world();
  const { id } = here.project;
  const member = await here.person();
  for (const place of [`/groups/${here.group.id}`, `/projects/${id}`])
    await here.as('owner').post(`${place}/members`, { user_id: member.id, access_level: 30 });
  const { id: other } = (await here.as('owner').post('/projects', { name: 'other', namespace_id: here.group.id })).body;
  const { id: own } = (await here.as('owner').post('/projects', { name: 'own' })).body;
  const imported = await here.as('owner').post(`/projects/${own}/import_project_members/${id}`);
  assert.equal(imported.status, 201, JSON.stringify(imported.body));
  assert.deepEqual((await recorded(here, own)).slice(1), [[member.id, 'joined', 'Project', own]]);

  await here.as('owner').delete(`/groups/${here.group.id}/members/${member.id}`);
  assert.deepEqual((await recorded(here, id)).at(-1), [member.id, 'left', 'Project', id]);
  assert.deepEqual(await recorded(here, other), [[here.people.owner.id, 'created', 'Project', other]]);
});

test('opening, closing and reopening a project milestone is recorded', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}/milestones`;
  const before = (await recorded(here, here.project.id)).length;
  const { id } = (await here.as('planner').post(url, { title: 'First' })).body;
  for (const change of [
    { title: 'Second' },
    { state_event: 'close' },
    { state_event: 'close' },
    { state_event: 'activate' },
  ])
    assert.equal((await here.as('planner').put(`${url}/${id}`, change)).status, 200);
  assert.equal((await here.as('planner').post(url, { title: 'Second' })).status, 400);
  assert.equal((await here.as('planner').delete(`${url}/${id}`)).status, 204);
  assert.equal(
    (await here.as('planner').post(`/groups/${here.group.id}/milestones`, { title: 'Of the group' })).status,
    201,
  );
  assert.deepEqual(
    (await recorded(here, here.project.id)).slice(before),
    ['created', 'closed', 'reopened', 'destroyed'].map((action) => [here.people.planner.id, action, 'Milestone', id]),
  );
});

test('issues and comments are recorded, but not edits and system notes', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}/issues`;
  const before = (await recorded(here, here.project.id)).length;
  const issue = (await here.as('guest').post(url, { title: 'Broken' })).body;
  await here.as('planner').put(`${url}/${issue.iid}`, { title: 'Quite broken', due_date: '2031-01-02' });
  await here.as('planner').put(`${url}/${issue.iid}`, { state_event: 'close' });
  await here.as('planner').put(`${url}/${issue.iid}`, { state_event: 'reopen' });
  const note = (await here.as('reporter').post(`${url}/${issue.iid}/notes`, { body: 'Why?' })).body;
  assert.equal((await here.as('reporter').post(`${url}/${issue.iid}/notes`, { body: '/todo' })).status, 202);
  assert.deepEqual((await recorded(here, here.project.id)).slice(before), [
    [here.people.guest.id, 'created', 'Issue', issue.id],
    [here.people.planner.id, 'closed', 'Issue', issue.id],
    [here.people.planner.id, 'reopened', 'Issue', issue.id],
    [here.people.reporter.id, 'commented', 'Note', note.id],
  ]);
});

test('the activity time of a project is updated once an hour, and that of the user once a day', async () => {
  const here = await world();
  const { id } = here.project;
  const [guest, newcomer] = [here.people.guest.id, (await here.person()).id];
  const activity = async () =>
    (await here.db.selectFrom('projects').select('last_activity_at').where('id', '=', id).executeTakeFirstOrThrow())
      .last_activity_at;
  const setTo = (minutes: number) =>
    here.db
      .updateTable('projects')
      .set({ last_activity_at: sql`now() - make_interval(mins => ${minutes})` })
      .where('id', '=', id)
      .execute();
  const join = async () => {
    await here.as('owner').post(`/projects/${id}/members`, { user_id: newcomer, access_level: 20 });
    await here.as('owner').delete(`/projects/${id}/members/${newcomer}`);
  };
  await setTo(59);
  const recent = await activity();
  await join();
  assert.equal(await activity(), recent);
  await setTo(61);
  const old = await activity();
  await join();
  assert.ok((await activity()) > old);

  const dayOf = async (user: number) =>
    (await here.db.selectFrom('users').select('last_activity_on').where('id', '=', user).executeTakeFirstOrThrow())
      .last_activity_on;
  assert.equal(await dayOf(newcomer), null, 'being added by others is no activity');
  await here.as('admin').post(`/projects/user/${guest}`, { name: 'given' });
  assert.equal(await dayOf(guest), daysFromNow(0));
});

test('events are deleted with their project and after three years, and pass to the ghost user when their author is deleted', async () => {
  const here = await world();
  const author = await here.person();
  const url = `/projects/${here.project.id}/members`;
  await here.as('owner').post(url, { user_id: author.id, access_level: 20 });
  await here.as('admin').delete(`/users/${author.id}`);
  assert.deepEqual(await performQueued(here.services, [removeUser]), ['remove_user']);
  const ghost = await here.db
    .selectFrom('users')
    .select('id')
    .where('user_type', '=', 'ghost')
    .executeTakeFirstOrThrow();
  assert.deepEqual((await recorded(here, here.project.id)).at(-1), [ghost.id, 'joined', 'Project', here.project.id]);

  const { id } = (await here.as('outsider').post('/projects', { name: 'own' })).body;
  await sql`update events set created_at = now() - interval '3 years' + interval '1 hour' where project_id = ${id}`.execute(
    here.db,
  );
  await performJob(here.services, removeOldEvents);
  assert.equal((await recorded(here, id)).length, 1);
  await sql`update events set created_at = now() - interval '3 years' - interval '1 hour' where project_id = ${id}`.execute(
    here.db,
  );
  await performJob(here.services, removeOldEvents);
  assert.deepEqual(await recorded(here, id), []);
  assert.notEqual((await recorded(here, here.project.id)).length, 0);
  await sql`delete from projects where id = ${here.project.id}`.execute(here.db);
  assert.deepEqual(await recorded(here, here.project.id), []);
});
