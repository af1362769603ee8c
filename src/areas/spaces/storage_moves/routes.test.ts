import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { fileUrl, filledWorld, onMain } from '../../../../test/support/repository.ts';
import { beginWrite, moveJobs, pass, twoStorages } from '../../../../test/support/storage_moves.ts';
import type { World } from '../../../../test/support/world.ts';
import { placeOf, repositoryOf, resolveBranch } from '../../../git/index.ts';
import { continueMoves, moveRepositories } from './index.ts';
import { followSwitches } from './switch_actions.ts';

const options = await twoStorages();
const movable = () => filledWorld(options);
const pathIn = (storage: string, { services, project }: World) => placeOf(services, { id: project.id, storage });

test('a project moves to another storage, and its source goes once nobody reads it', async () => {
  const here = await movable();
  const url = `/projects/${here.project.id}/repository_storage_moves`;
  const scheduled = await here.as('admin').post(url, { destination_storage_name: 'second' });
  assert.equal(scheduled.status, 201);
  assert.equal(scheduled.body.state, 'scheduled');
  assert.deepEqual(await performQueued(here.services, moveJobs), ['move_repositories']);
  const { body: replicated } = await here.as('admin').get(`${url}/${scheduled.body.id}`);
  assert.equal(replicated.state, 'replicated');
  assert.ok(existsSync(pathIn('default', here)), 'requests that have begun still read it');
  assert.equal((await here.as('guest').get(`/projects/${here.project.id}`)).status, 200);
  const written = await here.as('maintainer').post(fileUrl(here.project, 'NEW.md'), { ...onMain, content: 'new' });
  assert.equal(written.status, 201);
  await pass(here);
  await performQueued(here.services, moveJobs);
  assert.equal((await here.as('admin').get(`${url}/${scheduled.body.id}`)).body.state, 'finished');
  assert.ok(!existsSync(pathIn('default', here)));
  assert.ok(existsSync(pathIn('second', here)));
  const { body: shown } = await here.as('admin').get(`/projects/${here.project.id}`);
  assert.equal(shown.repository_storage, 'second');
  assert.deepEqual(await here.db.selectFrom('unused_repositories').selectAll().execute(), []);
  assert.equal(
    (await here.as('maintainer').get(`${fileUrl(here.project, 'NEW.md')}/raw`, { ref: 'main' })).status,
    200,
  );
});

test('readers that hold the old location of a repository use the new one', async () => {
  const here = await movable();
  const { services, project } = here;
  const held = repositoryOf(services, { id: project.id, storage: 'default' });
  const head = await resolveBranch(held, 'main');
  await here
    .as('admin')
    .post(`/projects/${project.id}/repository_storage_moves`, { destination_storage_name: 'second' });
  await performQueued(services, moveJobs);
  assert.equal(held.path, pathIn('default', here));
  await followSwitches(services);
  assert.equal(held.path, pathIn('second', here));
  await pass(here);
  await performQueued(services, moveJobs);
  assert.equal(await resolveBranch(held, 'main'), head);
  // And back again.
  await here
    .as('admin')
    .post(`/projects/${project.id}/repository_storage_moves`, { destination_storage_name: 'default' });
  await performQueued(services, moveJobs);
  await followSwitches(services);
  assert.equal(held.path, pathIn('default', here));
  await pass(here);
  await performQueued(services, moveJobs);
  assert.equal(await resolveBranch(held, 'main'), head);
});

test('nothing is written to a repository that is being moved, and everything can be read', async () => {
  const here = await movable();
  const { db, project } = here;
  const url = `/projects/${project.id}/repository_storage_moves`;
  const { body: move } = await here.as('admin').post(url, { destination_storage_name: 'second' });
  const write = () => here.as('maintainer').post(fileUrl(project, 'NEW.md'), { ...onMain, content: 'new' });
  const start = (state: string) =>
    db.updateTable('repository_storage_moves').set({ state }).where('id', '=', move.id).execute();
  await start('started');
  const text = '403 Forbidden - The repository is temporarily read-only. Please try again later.';
  assert.deepEqual([(await write()).status, (await write()).body.message], [403, text]);
  const branch = await here
    .as('maintainer')
    .post(`/projects/${project.id}/repository/branches`, { branch: 'b', ref: 'main' });
  assert.equal(branch.body.message, text);
  assert.equal((await here.as('maintainer').get(`${fileUrl(project, 'README.md')}/raw`, { ref: 'main' })).status, 200);
  assert.equal((await here.as('owner').delete(`/projects/${project.id}`)).status, 202);
  const { path_with_namespace: full_path } = (await here.as('owner').get(`/projects/${project.id}`)).body;
  const gone = await here.as('owner').delete(`/projects/${project.id}`, { permanently_remove: true, full_path });
  assert.deepEqual([gone.status, gone.body.message], [403, text]);
  await start('scheduled');
  await here.as('owner').post(`/projects/${project.id}/restore`);
  assert.equal((await write()).status, 201);
});

test('a run of a move changes nothing after another has taken over', async () => {
  const here = await movable();
  const { services, project, db } = here;
  const url = `/projects/${project.id}/repository_storage_moves`;
  // Both runs wait for this write.
  const { id: writing } = await beginWrite(here, { project_id: project.id });
  const { body: move } = await here.as('admin').post(url, { destination_storage_name: 'second' });
  const own = db.selectFrom('repository_storage_moves').select('id').where('id', '=', move.id);
  const runs: Promise<void>[] = [];
  for (const number of [1, 2]) {
    runs.push(performJob(services, moveRepositories, { move_id: move.id }));
    while (!(await own.where('runs', '=', number).executeTakeFirst()));
  }
  await db.deleteFrom('reference_updates').where('id', '=', writing).execute();
  await Promise.all(runs);
  assert.equal((await here.as('admin').get(`${url}/${move.id}`)).body.state, 'replicated');
  await pass(here);
  await performQueued(services, moveJobs);
  assert.ok(existsSync(pathIn('second', here)));
  assert.ok(!existsSync(pathIn('default', here)));
  assert.equal((await here.as('maintainer').get(`${fileUrl(project, 'README.md')}/raw`, { ref: 'main' })).status, 200);
});

test('moves that are enqueued again while they begin wait for their first run', async () => {
  const here = await movable();
  const { body: move } = await here
    .as('admin')
    .post(`/projects/${here.project.id}/repository_storage_moves`, { destination_storage_name: 'default' });
  const lock = sql`
    update graphile_worker._private_jobs set locked_at = now(), locked_by = 'another' where key = ${`move_repositories:${move.id}`}`;
  await lock.execute(here.db);
  await performQueued(here.services, [continueMoves]);
  const { rows } = await sql<{ queues: number; jobs: number }>`
    select count(distinct job_queue_id)::integer as queues, count(*)::integer as jobs
      from graphile_worker._private_jobs where (payload->>'move_id')::bigint = ${move.id}`.execute(here.db);
  assert.deepEqual(rows, [{ queues: 1, jobs: 2 }]);
  await sql`delete from graphile_worker._private_jobs`.execute(here.db);
});
