import assert from 'node:assert/strict';
import { test } from 'node:test';
import { built } from '../../../../test/support/pipelines.ts';
import { sent } from '../../../../test/support/sent.ts';

async function shipping(configuration: string, pipelines: number) {
  const here = await built(configuration);
  const { as, at, jobsOf, statesOf } = here;
  const started: number[] = [];
  for (let count = 0; count < pipelines; count++)
    started.push((await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }))).id);
  const states = async () => Promise.all(started.map(async (id) => (await statesOf(id)).ship));
  const cancel = async (index: number, name = 'ship') =>
    sent(as('maintainer').post(`${at}/jobs/${(await jobsOf(started[index]!))[name]!.id}/cancel`));
  const group = `${at}/resource_groups/production%2Feu`;
  const mode = (process_mode: string) => sent(as('developer').put(group, { process_mode }));
  return { ...here, started, states, cancel, group, mode };
}

const ship = 'ship: {script: make, resource_group: production/eu}';

test('a resource group says who has the resource and who waits for it', async () => {
  const { as, at, group, started, cancel } = await shipping(ship, 3);
  const listed = (await as('developer').get(`${at}/resource_groups`)).body;
  assert.deepEqual([listed.length, listed[0].key, listed[0].process_mode], [1, 'production/eu', 'unordered']);
  assert.deepEqual((await as('developer').get(group)).body, listed[0]);
  const pipelinesOf = async () =>
    (await as('developer').get(`${group}/upcoming_jobs`)).body.map(
      (job: { pipeline: { id: number } }) => job.pipeline.id,
    );
  assert.equal((await as('developer').get(`${group}/current_job`)).body.pipeline.id, started[0]);
  assert.deepEqual(await pipelinesOf(), started.slice(1));
  await sent(as('developer').put(group, { process_mode: 'newest_ready_first' }));
  assert.deepEqual(await pipelinesOf(), started.slice(1).toReversed());
  for (const index of [2, 1, 0]) await cancel(index);
  assert.equal((await as('developer').get(`${group}/current_job`)).body.message, '404 Job Not Found');
  assert.equal((await as('developer').get(`${at}/resource_groups/none`)).body.message, '404 Resource Group Not Found');
  assert.equal((await as('reporter').get(group)).status, 403);
  assert.equal((await as('developer').put(group, { process_mode: 'last' })).status, 400);
});

test('the newest pipeline that waits gets the resource first where the mode says so', async () => {
  const { states, cancel, mode } = await shipping(ship, 3);
  await mode('newest_ready_first');
  await cancel(0);
  assert.deepEqual(await states(), ['canceled', 'waiting_for_resource', 'pending']);
});

test('a job of an older pipeline that is not ready yet is waited for, until it is left out', async () => {
  const staged =
    'stages: [build, deploy]\nbuild: {stage: build, script: make}\nship: {stage: deploy, script: make, resource_group: production/eu}';
  const { as, at, states, cancel, mode, commit, started, statesOf } = await shipping(staged, 1);
  await mode('oldest_first');
  await commit(ship, 'Ship at once', 'quick');
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'quick' }));
  assert.deepEqual([await states(), (await statesOf(id)).ship], [['created'], 'waiting_for_resource']);
  await cancel(0, 'build');
  assert.deepEqual([(await statesOf(started[0]!)).ship, (await statesOf(id)).ship], ['skipped', 'pending']);
});
