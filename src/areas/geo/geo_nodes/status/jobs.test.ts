import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CopyingSite, copyingSite } from '../../../../../test/support/copying_site.ts';
import { performQueued } from '../../../../../test/support/jobs.ts';
import type { World } from '../../../../../test/support/world.ts';
import { makeOwnNode } from '../actions.ts';
import { statusPolls } from './jobs.ts';

const report = ({ services }: Pick<CopyingSite, 'services'>) => performQueued(services, statusPolls);

/** A primary and a secondary that has copied everything and has never reported. */
async function twoSites() {
  const { here, there } = await copyingSite();
  await makeOwnNode(here.services);
  await here.db.deleteFrom('geo_statuses').execute();
  await there.db.deleteFrom('geo_cursors').where('name', '=', 'reported').execute();
  await there.copy();
  const { id } = await here.db
    .selectFrom('geo_nodes')
    .select('id')
    .where('primary', '=', false)
    .executeTakeFirstOrThrow();
  const status = async () => (await here.as('admin').get(`/geo_nodes/${id}/status`)).body;
  return { here, there, id, status };
}

const reportedAt = async ({ db }: World, id: number) =>
  (await db.selectFrom('geo_statuses').select('reported_at').where('geo_node_id', '=', id).executeTakeFirst())
    ?.reported_at;

test('a secondary reports its copies, and again on request or when its health changes', async () => {
  const { here, there, id, status } = await twoSites();
  await report(there);
  const first = await status();
  const { count } = await there.db
    .selectFrom('geo_replicas')
    .where('replicable', '=', 'project_repositories')
    .select(there.db.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  assert.deepEqual(
    [first.project_repositories_count, first.project_repositories_synced_count, first.storage_shards_match],
    [count, count, false],
  );
  assert.ok(count > 0);
  // The database of this test is filled without a subscription.
  assert.match(first.health, /The database does not follow the primary\.$/);

  const reported = await reportedAt(here, id);
  await report(there);
  assert.equal(await reportedAt(here, id), reported, 'no report is due');

  const asked = here.as('admin').get(`/geo_nodes/${id}/status`, { refresh: true });
  const requested = here.db.selectFrom('geo_nodes').select('id').where('refresh_requested_at', 'is not', null);
  while (!(await requested.executeTakeFirst()));
  await there.follow();
  await report(there);
  assert.notEqual((await asked).body.updated_at, reported);

  const again = await reportedAt(here, id);
  await there.db.updateTable('geo_replicas').set({ state: 'failed', retry_count: 1 }).execute();
  await report(there);
  assert.notEqual(await reportedAt(here, id), again);
  assert.match((await status()).health, /repositor(?:y|ies) could not be copied\.$/);
});

test('a repair makes all failed copies due once', async () => {
  const { here, there, id } = await twoSites();
  const later = new Date(Date.now() + 3_600_000).toISOString();
  const fail = () =>
    there.db.updateTable('geo_replicas').set({ state: 'failed', retry_count: 9, retry_at: later }).execute();
  const due = async () =>
    (await there.db.selectFrom('geo_replicas').select('record').where('retry_at', '<', later).execute()).length > 0;
  await fail();
  await report(there);
  assert.equal(await due(), false);
  assert.equal((await here.as('admin').post(`/geo_nodes/${id}/repair`)).status, 200);
  await there.follow();
  await report(there);
  assert.equal(await due(), true);
  await fail();
  await report(there);
  assert.equal(await due(), false);
});

test('a primary stores its own status, for its secondaries', async () => {
  const { here } = await twoSites();
  await here.db.deleteFrom('geo_cursors').where('name', '=', 'reported').execute();
  const { id } = await here.db
    .selectFrom('geo_nodes')
    .select('id')
    .where('primary', '=', true)
    .executeTakeFirstOrThrow();
  await report(here);
  const reported = await reportedAt(here, id);
  assert.notEqual(reported, undefined);
  await report(here);
  assert.equal(await reportedAt(here, id), reported);
});

test('a secondary with an unreachable primary continues without errors', async () => {
  const { here, there, id } = await twoSites();
  const services = { ...there.services, geo: { ...there.services.geo, primaryUrl: 'http://127.0.0.1:1' } };
  await report({ services });
  assert.equal(await reportedAt(here, id), undefined);
});
