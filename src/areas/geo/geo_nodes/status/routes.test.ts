import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { clientOf } from '../../../../../test/support/client.ts';
import { startServer } from '../../../../../test/support/populate.ts';
import { type World, world } from '../../../../../test/support/world.ts';
import { replicables } from '../../replicas/definition.ts';
import { makeOwnNode } from '../actions.ts';
import { recordStatus } from './actions.ts';
import type { SiteStatus } from './definition.ts';
import { statusOfThisSite } from './site_queries.ts';

const key = { COPPICE_SECRET_KEY: 'k'.repeat(32) };

/** A primary with its own node and one secondary, which has not reported. */
async function twoNodes(): Promise<World & { primary: number; secondary: number }> {
  const here = await world({ environment: { ...key, COPPICE_GEO_ROLE: 'primary' } });
  await here.db.deleteFrom('geo_nodes').execute();
  await makeOwnNode(here.services);
  const { body } = await here.as('admin').get('/geo_nodes');
  const lisbon = { name: 'Lisbon', url: 'https://lisbon.example.com' };
  const { body: added } = await here.as('admin').post('/geo_nodes', lisbon);
  return Object.assign(here, { primary: body[0].id, secondary: added.id });
}

/** A secondary on the database of its primary, as if everything had been replicated. */
async function secondaryOf(here: World, t: TestContext) {
  const environment = {
    ...key,
    COPPICE_GEO_ROLE: 'secondary',
    COPPICE_GEO_NODE_NAME: 'Lisbon',
    COPPICE_GEO_PRIMARY_URL: here.url,
  };
  const server = await startServer(here.db, { environment });
  t.after(server.stop);
  return clientOf(`${server.url}/api/v4`, here.people.admin.token);
}

/** What a secondary reports that has copied everything but two projects, one of which it could not. */
async function reported({ services }: World): Promise<SiteStatus> {
  const status = await statusOfThisSite(services);
  const copies = { synced_count: 1, failed_count: 1, registry_count: 3 };
  const verified = { verification_total_count: 1, verified_count: 1, verification_failed_count: 0 };
  const about = { ...status.counts.project_repositories, count: 3, ...copies, ...verified };
  const event = { id: 12, created_at: '2030-01-02T03:04:05.678Z' };
  return {
    ...status,
    counts: { ...status.counts, project_repositories: about },
    db_replication_lag_seconds: 2,
    events_behind_seconds: 3,
    last_event: event,
    cursor: { ...event, id: 11 },
  };
}

test('the primary computes its own status, with null for the fields of copies', async () => {
  const here = await twoNodes();
  const { as, db, primary: id } = here;
  const { status, body } = await as('admin').get(`/geo_nodes/${id}/status`);
  assert.equal(status, 200);
  const { count } = await db
    .selectFrom('projects')
    .select(db.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  assert.deepEqual(
    [body.geo_node_id, body.healthy, body.health, body.health_status, body.missing_oauth_application],
    [id, true, 'Healthy', 'Healthy', false],
  );
  for (const member of ['projects_count', 'repositories_count', 'project_repositories_count'])
    assert.equal(body[member], count);
  for (const name of [...replicables, 'job_artifacts', 'design_management_repositories']) {
    assert.equal(typeof body[`${name}_count`], 'number');
    for (const member of ['synced_count', 'failed_count', 'registry_count', 'verified_count', 'oldest_unsynced_time'])
      assert.equal(body[`${name}_${member}`], null);
    assert.equal(body[`${name}_synced_in_percentage`], '0.00%');
  }
  assert.deepEqual([body.job_artifacts_count, body.attachments_count, body.repositories_synced_count], [0, null, null]);
  assert.deepEqual([body.db_replication_lag_seconds, body.cursor_last_event_id], [null, null]);
  assert.deepEqual([body.storage_shards, body.storage_shards_match], [[{ name: 'default' }], true]);
  assert.equal(body.last_successful_status_check_timestamp, Math.floor(Date.parse(body.updated_at) / 1000));
  const url = `http://coppice.test/api/v4/geo_nodes/${id}`;
  assert.deepEqual(body._links, { self: `${url}/status`, node: url });
  const site = (await as('admin').get(`/geo_sites/${id}/status`)).body;
  assert.deepEqual(site._links, {
    self: `${url.replace('nodes', 'sites')}/status`,
    site: url.replace('nodes', 'sites'),
  });
});

test('a secondary is shown as last reported, and as unhealthy if it is silent', async () => {
  const here = await twoNodes();
  const { db, secondary: id } = here;
  const admin = here.as('admin');
  const path = `/geo_nodes/${id}/status`;
  for (const [noun, text] of [
    ['geo_nodes', '404 Status for Geo node not found Not Found'],
    ['geo_sites', '404 Status for Geo site not found Not Found'],
  ]) {
    const { status, body } = await admin.get(`/${noun}/${id}/status`);
    assert.deepEqual([status, body.message], [404, text]);
  }
  assert.deepEqual((await admin.get('/geo_nodes/0/status')).body.message, '404 GeoNode Not Found');
  assert.deepEqual((await admin.get('/geo_nodes/status')).body.length, 1);

  await admin.put(`/geo_nodes/${id}`, {
    selective_sync_type: 'namespaces',
    selective_sync_namespace_ids: [here.group.id],
  });
  const status = await reported(here);
  await recordStatus(db, id, status);
  const { body } = await admin.get(path);
  assert.deepEqual([body.healthy, body.health], [false, '1 repository could not be copied.']);
  assert.deepEqual(
    [
      body.projects_count,
      body.project_repositories_synced_in_percentage,
      body.project_repositories_verified_in_percentage,
    ],
    [3, '33.33%', '100.00%'],
  );
  assert.deepEqual(
    [body.repositories_synced_count, body.repositories_failed_count, body.repositories_synced_in_percentage],
    [1, 1, '33.33%'],
  );
  assert.deepEqual([body.db_replication_lag_seconds, body.last_event_id, body.cursor_last_event_id], [2, 12, 11]);
  assert.equal(body.last_event_timestamp, 1893553445);
  assert.deepEqual([body.selective_sync_type, body.namespaces[0].full_path], ['namespaces', here.group.full_path]);
  assert.equal(body.job_artifacts_synced_count, 0);

  await db.updateTable('geo_statuses').set({ reported_at: sql`now() - interval '75 seconds'` }).execute();
  const silent = (await admin.get(path)).body;
  assert.match(
    silent.health,
    /^The site has not reported its status for 7\d seconds\. 1 repository could not be copied\.$/,
  );
  await admin.put(`/geo_nodes/${id}`, { enabled: false });
  assert.match((await admin.get(path)).body.health, /^The site is disabled\. /);

  const all = await admin.get('/geo_nodes/status', { per_page: 1, page: 2 });
  assert.deepEqual(
    all.body.map((each: { geo_node_id: number }) => each.geo_node_id),
    [id],
  );
  const { body: statuses } = await admin.get('/geo_sites/statuses');
  assert.deepEqual(
    statuses.map((each: { geo_node_id: number }) => each.geo_node_id),
    [here.primary, id],
  );
});

test('a request for a new status waits for the report of the secondary', async () => {
  const here = await twoNodes();
  const { db, secondary: id } = here;
  await recordStatus(db, id, await reported(here));
  const asked = here.as('admin').get(`/geo_nodes/${id}/status`, { refresh: true });
  const requested = db.selectFrom('geo_nodes').select('id').where('refresh_requested_at', 'is not', null);
  while (!(await requested.executeTakeFirst()));
  await recordStatus(db, id, { ...(await reported(here)), db_replication_lag_seconds: 7 });
  assert.equal((await asked).body.db_replication_lag_seconds, 7);
  assert.equal((await here.as('admin').get(`/geo_nodes/${here.primary}/status`, { refresh: true })).status, 200);
});

test('a repair replaces a lost credential, and requests a retry of failed copies', async () => {
  const here = await twoNodes();
  const { db, secondary: id } = here;
  const admin = here.as('admin');
  const row = () => db.selectFrom('geo_nodes').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const sound = await row();
  const { status, body } = await admin.post(`/geo_nodes/${id}/repair`);
  assert.deepEqual(
    [status, body.geo_node_id, body.healthy, body.health, body.projects_count, body.version, body.updated_at],
    [200, id, false, 'The site has never reported its status.', null, null, null],
  );
  const repaired = await row();
  assert.deepEqual(repaired.credential, sound.credential);
  assert.notEqual(repaired.repair_requested_at, null);
  for (const credential of [null, Buffer.from('not sealed')]) {
    await db.updateTable('geo_nodes').set({ credential }).where('id', '=', id).execute();
    await recordStatus(db, id, await statusOfThisSite(here.services));
    const broken = (await admin.get(`/geo_sites/${id}/status`)).body;
    assert.deepEqual(
      [broken.missing_oauth_application, broken.health],
      [true, 'The site has no valid credential. Repair it.'],
    );
    const after = (await admin.post(`/geo_sites/${id}/repair`)).body;
    assert.deepEqual([after.missing_oauth_application, after.health], [false, 'Healthy']);
    assert.notDeepEqual((await row()).credential, credential);
  }
  const own = await admin.post(`/geo_nodes/${here.primary}/repair`);
  assert.deepEqual([own.status, own.body.healthy], [200, true]);
  assert.equal((await admin.post('/geo_sites/0/repair')).body.message, '404 GeoSite Not Found');
});

test('without a role every status reports it, and on a secondary nothing is repaired', async (t) => {
  const here = await twoNodes();
  await recordStatus(here.db, here.secondary, await statusOfThisSite(here.services));
  const alone = await startServer(here.db, { environment: key });
  t.after(alone.stop);
  const { body } = await clientOf(`${alone.url}/api/v4`, here.people.admin.token).get('/geo_nodes/status');
  assert.deepEqual(
    body.map(({ healthy, health }: Record<string, unknown>) => [healthy, health]),
    [1, 2].map(() => [false, 'Geo is not set up on this site: COPPICE_GEO_ROLE is not set.']),
  );
  const admin = await secondaryOf(here, t);
  const refused = await admin.post(`/geo_nodes/${here.secondary}/repair`);
  assert.deepEqual(
    [refused.status, refused.body.message],
    [403, 'You cannot perform write operations on a read-only instance'],
  );
  assert.equal((await admin.get(`/geo_nodes/${here.secondary}/status`)).status, 200);
});

test('only administrators see statuses and repair nodes', async () => {
  const here = await twoNodes();
  for (const [persona, status] of [
    ['anonymous', 401],
    ['owner', 403],
  ] as const) {
    const client = here.as(persona);
    assert.equal((await client.get('/geo_nodes/status')).status, status);
    assert.equal((await client.get(`/geo_nodes/${here.primary}/status`)).status, status);
    assert.equal((await client.post(`/geo_sites/${here.secondary}/repair`)).status, status);
  }
});

test('a secondary counts its copies, and reports the last processed event', async (t) => {
  const here = await twoNodes();
  const { db, secondary: id } = here;
  for (const table of ['geo_replicas', 'geo_checksums', 'geo_events'] as const) await db.deleteFrom(table).execute();
  const event = { replicable: 'uploads', record: 'uploads/a', created_at: sql<string>`now() - interval '90 seconds'` };
  const events = await db
    .insertInto('geo_events')
    .values([event, { ...event, record: 'uploads/b' }])
    .returning(['id', 'created_at'])
    .execute();
  const of = { replicable: 'uploads', verification_state: 'pending', event_id: events[0]!.id };
  await db
    .insertInto('geo_replicas')
    .values([
      { ...of, record: 'uploads/a', state: 'synced', verification_state: 'verified' },
      { ...of, record: 'uploads/b', state: 'pending', event_id: events[1]!.id, retry_at: event.created_at },
      { ...of, record: 'uploads/c', state: 'failed', event_id: 0 },
      { ...of, record: 'uploads/d', state: 'synced', verification_state: 'failed' },
    ])
    .execute();
  await db.insertInto('geo_checksums').values({ replicable: 'uploads', record: 'uploads/a', checksum: 'aa' }).execute();
  const { body } = await (await secondaryOf(here, t)).get(`/geo_nodes/${id}/status`);
  const counts = [
    'count',
    'registry_count',
    'synced_count',
    'failed_count',
    'verification_total_count',
    'verified_count',
  ];
  assert.deepEqual(
    [...counts, 'verification_failed_count', 'checksummed_count'].map((name) => body[`uploads_${name}`]),
    [4, 4, 2, 1, 2, 1, 1, 1],
  );
  assert.deepEqual([body.uploads_synced_in_percentage, body.uploads_verified_in_percentage], ['50.00%', '50.00%']);
  assert.equal(body.uploads_oldest_unsynced_time, events[1]!.created_at);
  assert.deepEqual([body.last_event_id, body.cursor_last_event_id], [events[1]!.id, events[0]!.id]);
  assert.match(
    body.health,
    /The events are 9\d seconds behind\. 1 file could not be copied\. 1 copy differs from the primary\.$/,
  );
  assert.deepEqual([body.lfs_objects_count, body.lfs_objects_synced_in_percentage], [0, '0.00%']);
});

test('a secondary lists failed copies and verifications, and a primary lists nothing', async (t) => {
  const here = await twoNodes();
  const { db, project } = here;
  for (const table of ['geo_replicas', 'geo_checksums'] as const) await db.deleteFrom(table).execute();
  const { body: other } = await here.as('owner').post('/projects', { name: 'other', namespace_id: here.group.id });
  const wiki = await db
    .insertInto('wikis')
    .values({ project_id: other.id, storage: 'default', default_branch: 'main' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const [repository, ofWiki] = [{ replicable: 'project_repositories' }, { replicable: 'project_wiki_repositories' }];
  const failed = { state: 'failed', retry_count: 3, last_sync_failure: 'The primary cannot be reached.' };
  const differing = { verification_state: 'failed', last_verification_failure: 'The copy differs.', checksum: 'aa' };
  await db
    .insertInto('geo_replicas')
    .values({ ...repository, ...failed, record: String(project.id) })
    .execute();
  await db
    .insertInto('geo_replicas')
    .values({ ...repository, ...differing, state: 'synced', record: String(other.id) })
    .execute();
  await db
    .insertInto('geo_replicas')
    .values({ ...ofWiki, ...failed, record: String(wiki.id) })
    .execute();
  await db
    .insertInto('geo_checksums')
    .values({ ...repository, record: String(other.id), checksum: 'bb' })
    .execute();
  const admin = await secondaryOf(here, t);
  const idsOf = async (query: object) =>
    (await admin.get('/geo_nodes/current/failures', { ...query })).body.map(
      (each: { project_id: number }) => each.project_id,
    );
  assert.deepEqual((await admin.get('/geo_sites/current/failures')).body, [
    {
      project_id: project.id,
      last_repository_synced_at: null,
      last_repository_successful_sync_at: null,
      last_wiki_synced_at: null,
      last_wiki_successful_sync_at: null,
      repository_retry_count: 3,
      wiki_retry_count: null,
      last_repository_sync_failure: 'The primary cannot be reached.',
      last_wiki_sync_failure: null,
      last_repository_verification_failure: null,
      last_wiki_verification_failure: null,
      repository_verification_checksum_sha: null,
      wiki_verification_checksum_sha: null,
      repository_checksum_mismatch: false,
      wiki_checksum_mismatch: false,
    },
  ]);
  assert.deepEqual(await idsOf({ type: 'wiki' }), [other.id]);
  assert.deepEqual(await idsOf({ failure_type: 'verification' }), [other.id]);
  assert.deepEqual(await idsOf({ failure_type: 'checksum_mismatch' }), [other.id]);
  await db.updateTable('geo_checksums').set({ checksum: 'aa' }).execute();
  assert.deepEqual(await idsOf({ failure_type: 'checksum_mismatch' }), []);
  assert.deepEqual(await idsOf({ type: 'wiki', failure_type: 'verification' }), []);
  const wrong = await admin.get('/geo_nodes/current/failures', { type: 'design' });
  assert.deepEqual([wrong.status, wrong.body.message], [400, 'type does not have a valid value']);
  assert.deepEqual((await here.as('admin').get('/geo_nodes/current/failures')).body, []);
});
