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
  const w = await world();
  const { outsider, reporter } = w.people;
  const own = (await w.as('outsider').post('/projects', { name: 'own' })).body;
  assert.deepEqual(await recorded(w, own.id), [[outsider.id, 'created', 'Project', own.id]]);
  const given = (await w.as('admin').post(`/projects/user/${outsider.id}`, { name: 'given' })).body;
  assert.deepEqual(await recorded(w, given.id), [[outsider.id, 'created', 'Project', given.id]]);
  const fork = (await w.as('reporter').post(`/projects/${w.project.id}/fork`, { path: 'copy' })).body;
  assert.deepEqual(await recorded(w, fork.id), [[reporter.id, 'created', 'Project', fork.id]]);

  const { rows: before } = await sql<{ count: number }>`select count(*) from events`.execute(w.db);
  assert.equal((await w.as('outsider').post('/projects', { name: 'own' })).status, 400);
  const { rows: after } = await sql<{ count: number }>`select count(*) from events`.execute(w.db);
  assert.deepEqual(after, before, 'what did not happen is not told');
});

test('a transfer is recorded for the user who made it', async () => {
  const w = await world();
  const { id } = (await w.as('owner').post('/projects', { name: 'travelling' })).body;
  const moved = await w.as('owner').put(`/projects/${id}/transfer`, { namespace: w.group.id });
  assert.equal(moved.status, 200);
  assert.deepEqual(await recorded(w, id), [
    [w.people.owner.id, 'created', 'Project', id],
    [w.people.owner.id, 'transferred', 'Project', id],
  ]);
});

test('project memberships are recorded as events of the member, group memberships are not recorded', async () => {
  const w = await world();
  const { id } = w.project;
  const url = `/projects/${id}`;
  const [first, second, third] = [await w.person(), await w.person(), await w.person()];
  const before = (await recorded(w, id)).length;
  const since = async () => (await recorded(w, id)).slice(before);

  await w.as('owner').post(`/groups/${w.group.id}/members`, { user_id: first.id, access_level: 20 });
  await w.as('owner').delete(`/groups/${w.group.id}/members/${first.id}`);
  assert.deepEqual(await since(), []);

  await w.as('owner').post(`${url}/members`, { user_id: first.id, access_level: 20 });
  await w.as('owner').post(`${url}/members`, { user_id: [first.id, second.id], access_level: 30 });
  assert.equal((await w.as('owner').post(`${url}/members`, { user_id: first.id, access_level: 20 })).status, 409);
  await w.as('owner').put(`${url}/members/${first.id}`, { access_level: 20 });
  assert.deepEqual(await since(), [
    [first.id, 'joined', 'Project', id],
    [second.id, 'joined', 'Project', id],
  ]);

  await w.as('owner').put(url, { visibility: 'private', request_access_enabled: true });
  await w.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', id).execute();
  assert.equal((await third.client.post(`${url}/access_requests`)).status, 201);
  assert.equal((await w.as('owner').put(`${url}/access_requests/${third.id}/approve`)).status, 201);
  assert.deepEqual((await since()).slice(2), [[third.id, 'joined', 'Project', id]]);

  await first.client.delete(`${url}/members/${first.id}`);
  await w.as('owner').delete(`${url}/members/${second.id}`);
  await w.db
    .updateTable('members')
    .set({ expires_at: daysFromNow(-1) })
    .where('user_id', '=', third.id)
    .execute();
  assert.equal((await since()).length, 5);
  await performJob(w.services, removeExpiredMemberships);
  assert.deepEqual((await since()).slice(3), [
    [first.id, 'left', 'Project', id],
    [second.id, 'left', 'Project', id],
    [third.id, 'expired', 'Project', id],
  ]);
});

test('leaving a group also leaves its projects, and imported members join', async () => {
  const w = await world();
  const { id } = w.project;
  const member = await w.person();
  for (const place of [`/groups/${w.group.id}`, `/projects/${id}`])
    await w.as('owner').post(`${place}/members`, { user_id: member.id, access_level: 30 });
  const { id: other } = (await w.as('owner').post('/projects', { name: 'other', namespace_id: w.group.id })).body;
  const { id: own } = (await w.as('owner').post('/projects', { name: 'own' })).body;
  const imported = await w.as('owner').post(`/projects/${own}/import_project_members/${id}`);
  assert.equal(imported.status, 201, JSON.stringify(imported.body));
  assert.deepEqual((await recorded(w, own)).slice(1), [[member.id, 'joined', 'Project', own]]);

  await w.as('owner').delete(`/groups/${w.group.id}/members/${member.id}`);
  assert.deepEqual((await recorded(w, id)).at(-1), [member.id, 'left', 'Project', id]);
  assert.deepEqual(await recorded(w, other), [[w.people.owner.id, 'created', 'Project', other]]);
});

test('opening, closing and reopening a project milestone is recorded', async () => {
  const w = await world();
  const url = `/projects/${w.project.id}/milestones`;
  const before = (await recorded(w, w.project.id)).length;
  const { id } = (await w.as('planner').post(url, { title: 'First' })).body;
  for (const change of [{ title: 'Second' }, { state_event: 'close' }, { state_event: 'close' }, { state_event: 'activate' }])
    assert.equal((await w.as('planner').put(`${url}/${id}`, change)).status, 200);
  assert.equal((await w.as('planner').post(url, { title: 'Second' })).status, 400);
  assert.equal((await w.as('planner').delete(`${url}/${id}`)).status, 204);
  assert.equal((await w.as('planner').post(`/groups/${w.group.id}/milestones`, { title: 'Of the group' })).status, 201);
  assert.deepEqual(
    (await recorded(w, w.project.id)).slice(before),
    ['created', 'closed', 'reopened', 'destroyed'].map((action) => [w.people.planner.id, action, 'Milestone', id]),
  );
});

test('issues and comments are recorded, but not edits and system notes', async () => {
  const w = await world();
  const url = `/projects/${w.project.id}/issues`;
  const before = (await recorded(w, w.project.id)).length;
  const issue = (await w.as('guest').post(url, { title: 'Broken' })).body;
  await w.as('planner').put(`${url}/${issue.iid}`, { title: 'Quite broken', due_date: '2031-01-02' });
  await w.as('planner').put(`${url}/${issue.iid}`, { state_event: 'close' });
  await w.as('planner').put(`${url}/${issue.iid}`, { state_event: 'reopen' });
  const note = (await w.as('reporter').post(`${url}/${issue.iid}/notes`, { body: 'Why?' })).body;
  assert.equal((await w.as('reporter').post(`${url}/${issue.iid}/notes`, { body: '/todo' })).status, 202);
  assert.deepEqual((await recorded(w, w.project.id)).slice(before), [
    [w.people.guest.id, 'created', 'Issue', issue.id],
    [w.people.planner.id, 'closed', 'Issue', issue.id],
    [w.people.planner.id, 'reopened', 'Issue', issue.id],
    [w.people.reporter.id, 'commented', 'Note', note.id],
  ]);
});

test('the activity time of a project is updated once an hour, and that of the user once a day', async () => {
  const w = await world();
  const { id } = w.project;
  const [guest, newcomer] = [w.people.guest.id, (await w.person()).id];
  const activity = async () =>
    (await w.db.selectFrom('projects').select('last_activity_at').where('id', '=', id).executeTakeFirstOrThrow())
      .last_activity_at;
  const setTo = (minutes: number) =>
    w.db
      .updateTable('projects')
      .set({ last_activity_at: sql`now() - make_interval(mins => ${minutes})` })
      .where('id', '=', id)
      .execute();
  const join = async () => {
    await w.as('owner').post(`/projects/${id}/members`, { user_id: newcomer, access_level: 20 });
    await w.as('owner').delete(`/projects/${id}/members/${newcomer}`);
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
    (await w.db.selectFrom('users').select('last_activity_on').where('id', '=', user).executeTakeFirstOrThrow()).last_activity_on;
  assert.equal(await dayOf(newcomer), null, 'being added by others is no activity');
  await w.as('admin').post(`/projects/user/${guest}`, { name: 'given' });
  assert.equal(await dayOf(guest), daysFromNow(0));
});

test('events are deleted with their project and after three years, and pass to the ghost user when their author is deleted', async () => {
  const w = await world();
  const author = await w.person();
  const url = `/projects/${w.project.id}/members`;
  await w.as('owner').post(url, { user_id: author.id, access_level: 20 });
  await w.as('admin').delete(`/users/${author.id}`);
  assert.deepEqual(await performQueued(w.services, [removeUser]), ['remove_user']);
  const ghost = await w.db.selectFrom('users').select('id').where('user_type', '=', 'ghost').executeTakeFirstOrThrow();
  assert.deepEqual((await recorded(w, w.project.id)).at(-1), [ghost.id, 'joined', 'Project', w.project.id]);

  const { id } = (await w.as('outsider').post('/projects', { name: 'own' })).body;
  await sql`update events set created_at = now() - interval '3 years' + interval '1 hour' where project_id = ${id}`.execute(w.db);
  await performJob(w.services, removeOldEvents);
  assert.equal((await recorded(w, id)).length, 1);
  await sql`update events set created_at = now() - interval '3 years' - interval '1 hour' where project_id = ${id}`.execute(w.db);
  await performJob(w.services, removeOldEvents);
  assert.deepEqual(await recorded(w, id), []);
  assert.notEqual((await recorded(w, w.project.id)).length, 0);
  await sql`delete from projects where id = ${w.project.id}`.execute(w.db);
  assert.deepEqual(await recorded(w, w.project.id), []);
});
