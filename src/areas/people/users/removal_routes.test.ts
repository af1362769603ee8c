import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
import { test } from 'node:test';
import { sql } from 'kysely';
import pino from 'pino';
import { type World, world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';
import { repositoryOf } from '../../../git/index.ts';
import type { AnyJob } from '../../../jobs/index.ts';
import { removeUnused } from '../../code/repository/index.ts';
import { removeGroup } from '../namespaces/jobs.ts';
import { ghostUser, removeUser } from './index.ts';

/** Runs queued jobs like a worker. */
async function work({ db, services }: World, jobs: readonly AnyJob[]): Promise<void> {
  for (const job of jobs) {
    const { rows } = await sql<{ payload: unknown }>`
      delete from graphile_worker._private_jobs job using graphile_worker._private_tasks task
       where task.id = job.task_id and task.identifier = ${job.name} returning job.payload`.execute(db);
    const call = { ...services, log: pino({ level: 'silent' }), signal: new AbortController().signal };
    for (const { payload } of rows) await job.perform(payload, call);
  }
}

const isThere = async ({ db }: World, id: number) =>
  (await db.selectFrom('users').select('id').where('id', '=', id).executeTakeFirst()) !== undefined;

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

test('a deleted user is blocked at once; their projects are deleted, and contributions elsewhere go to the ghost user', async () => {
  const here = await world();
  const { id, client } = await here.person();
  await here.as('owner').post(`/groups/${here.group.id}/members`, { user_id: id, access_level: 40 });
  const own = (await client.post('/projects', { name: 'own' })).body;
  const shared = (await client.post('/projects', { name: 'shared', namespace_id: here.group.id })).body;
  const { path } = repositoryOf(here.services, { id: own.id, storage: 'default' });
  assert.equal(await exists(path), true);
  const ofShared = `/projects/${shared.id}`;
  await client.post(`${ofShared}/repository/files/a.txt`, { branch: 'main', commit_message: 'Add', content: 'a' });
  assert.equal((await client.post(`${ofShared}/releases`, { tag_name: 'v1', ref: 'main' })).status, 201);

  const removed = await here.as('admin').delete(`/users/${id}`);
  assert.deepEqual([removed.status, removed.body], [204, null]);
  assert.equal((await client.get('/user')).status, 403);
  await work(here, [removeUser, removeUnused]);

  assert.equal(await isThere(here, id), false);
  assert.equal((await here.as('admin').get(`/users/${id}`)).status, 404);
  assert.equal((await here.as('admin').get(`/projects/${own.id}`)).status, 404);
  assert.equal(await exists(path), false);
  const ghost = await ghostUser(here.services);
  assert.equal((await here.as('owner').get(`/projects/${shared.id}`)).body.creator_id, ghost);
  const release = (await here.as('owner').get(`${ofShared}/releases/v1`)).body;
  assert.equal(release.author.id, ghost);
  const shown = (await here.as('admin').get(`/users/${ghost}`)).body;
  assert.deepEqual([shown.name, shown.bot], ['Ghost User', true]);
});

test('the ghost user is created once and cannot be deleted', async () => {
  const here = await world();
  const ghosts = await Promise.all([1, 2, 3, 4].map(() => ghostUser(here.services)));
  assert.equal(new Set(ghosts).size, 1);
  assert.equal((await here.as('admin').delete(`/users/${ghosts[0]}`)).status, 403);
});

test('the only owner of a group cannot be deleted without hard_delete', async () => {
  const here = await world();
  const { as, people, group, project } = here;
  const url = `/users/${people.owner.id}`;
  const refused = await as('admin').delete(url);
  assert.deepEqual(
    [refused.status, refused.body],
    [409, { message: 'User cannot be removed while is the sole-owner of a group' }],
  );
  assert.equal((await as('owner').get('/user')).status, 200);
  await as('owner').post(`/groups/${group.id}/access_tokens`, {
    name: 'a program is no owner that could be asked',
    scopes: ['api'],
    access_level: 50,
    expires_at: daysFromNow(1),
  });
  assert.equal((await as('admin').delete(url)).status, 409);

  assert.equal((await as('admin').delete(url, { hard_delete: true })).status, 204);
  await work(here, [removeUser]);
  assert.equal(await isThere(here, people.owner.id), false);
  const marked = (await as('admin').get(`/groups/${group.id}`)).body;
  assert.equal(marked.full_path, `${group.path}-deletion_scheduled-${group.id}`);
  assert.notEqual(marked.marked_for_deletion_on, null);
  const again = await as('admin').post('/groups', { name: 'again', path: group.path });
  assert.equal(again.status, 201, 'the path is free before the group is gone');
  await work(here, [removeGroup]);
  assert.equal((await as('admin').get(`/groups/${group.id}`)).status, 404);
  assert.equal((await as('admin').get(`/projects/${project.id}`)).status, 404);
});

test('an owner can be deleted when the group has another one', async () => {
  const here = await world();
  const { as, people, group } = here;
  await as('owner').put(`/groups/${group.id}/members/${people.maintainer.id}`, { access_level: 50 });
  assert.equal((await as('admin').delete(`/users/${people.owner.id}`)).status, 204);
  await work(here, [removeUser]);
  assert.equal(await isThere(here, people.owner.id), false);
  assert.equal((await as('maintainer').get(`/groups/${group.id}`)).status, 200);
});

test('users who changed meanwhile are not deleted, only administrators delete, and unknown users are not found', async () => {
  const here = await world();
  const url = `/users/${here.people.guest.id}`;
  const headers = { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' };
  assert.equal((await here.as('admin').delete(url, undefined, { headers })).status, 412);
  assert.equal((await here.as('owner').delete(url)).status, 403);
  assert.equal((await here.as('guest').get('/user')).status, 200);
  const nobody = await here.as('admin').delete('/users/99999999');
  assert.deepEqual([nobody.status, nobody.body], [404, { message: '404 User Not Found' }]);
});

test('a pending user is rejected and deleted', async () => {
  const here = await world();
  const { id } = await here.person();
  const early = await here.as('admin').post(`/users/${id}/reject`);
  assert.deepEqual([early.status, early.body], [409, { message: 'User does not have a pending request' }]);
  await here.db.updateTable('users').set({ state: 'blocked_pending_approval' }).where('id', '=', id).execute();
  const rejected = await here.as('admin').post(`/users/${id}/reject`);
  assert.deepEqual([rejected.status, rejected.body], [201, { message: 'Success', success: true }]);
  await work(here, [removeUser]);
  assert.equal(await isThere(here, id), false);
});
