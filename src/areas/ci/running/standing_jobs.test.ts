import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performJob } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { sent } from '../../../../test/support/sent.ts';
import { moveStanding } from './index.ts';
import { standingPipelines } from './standing_queries.ts';

test('a pipeline that stands still is found and moved on, and no other one is', async () => {
  const here = await built(`
stages: [build, test]
build: {stage: build, script: make}
test: {stage: test, script: make test}
ship: {stage: build, script: make ship, resource_group: production}
`);
  const { as, at, db, services, statesOf } = here;
  const start = async () => (await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }))).id as number;
  const [stuck, forgotten, waiting] = [await start(), await start(), await start()];
  const found = async () => (await standingPipelines(db, 100)).map(({ id }) => id);
  assert.deepEqual(await found(), []);
  const set = (pipeline_id: number, name: string, status: string) =>
    db
      .updateTable('commit_statuses')
      .set({ status })
      .where('pipeline_id', '=', pipeline_id)
      .where('name', '=', name)
      .execute();
  // As if a process had forgotten what follows from these.
  await set(stuck, 'build', 'success');
  await set(stuck, 'ship', 'success');
  await set(forgotten, 'build', 'running');
  const long_ago = '2026-01-01T00:00:00Z';
  const ids = [stuck, forgotten, waiting];
  await db.updateTable('pipelines').set({ updated_at: long_ago }).where('id', 'in', ids).execute();
  const times = { created_at: long_ago, queued_at: long_ago };
  await db.updateTable('commit_statuses').set(times).where('pipeline_id', 'in', ids).execute();
  assert.deepEqual(await found(), [stuck, forgotten, waiting]);
  await performJob(services, moveStanding);
  assert.deepEqual(await statesOf(stuck), { build: 'success', test: 'pending', ship: 'success' });
  assert.equal((await statesOf(forgotten)).ship, 'pending');
  assert.equal((await statesOf(waiting)).ship, 'waiting_for_resource');
  assert.deepEqual(await found(), []);
});
