import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../test/support/client.ts';
import { changePlan } from '../../../../test/support/licenses.ts';
import { startServer } from '../../../../test/support/populate.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { makeOwnNode } from './index.ts';

const ownName = 'http://coppice.test';

/** A world without nodes: those of the whole server are listed. */
async function emptyWorld(): Promise<World> {
  const here = await world({});
  await here.db.deleteFrom('geo_nodes').execute();
  return here;
}

async function addPrimary({ as }: World, more: object = {}) {
  const answer = await as('admin').post('/geo_nodes', { name: ownName, url: ownName, primary: true, ...more });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

const lisbon = { name: 'Lisbon', url: 'https://lisbon.example.com' };

test('nodes are added, listed, shown, changed and removed, under both names', async () => {
  const here = await emptyWorld();
  const admin = here.as('admin');
  const primary = await addPrimary(here);
  assert.deepEqual(primary, {
    id: primary.id,
    name: ownName,
    url: `${ownName}/`,
    internal_url: `${ownName}/`,
    primary: true,
    enabled: true,
    current: true,
    files_max_capacity: 10,
    repos_max_capacity: 25,
    verification_max_capacity: 100,
    container_repositories_max_capacity: 10,
    sync_object_storage: false,
    selective_sync_type: null,
    selective_sync_shards: [],
    selective_sync_namespace_ids: [],
    minimum_reverification_interval: 7,
    web_edit_url: `${ownName}/admin/geo/nodes/${primary.id}/edit`,
    _links: {
      self: `${ownName}/api/v4/geo_nodes/${primary.id}`,
      status: `${ownName}/api/v4/geo_nodes/${primary.id}/status`,
      repair: `${ownName}/api/v4/geo_nodes/${primary.id}/repair`,
    },
    clone_protocol: 'http',
  });

  const { status, body: secondary } = await admin.post('/geo_sites', {
    ...lisbon,
    name: '  Lisbon ',
    files_max_capacity: 0,
  });
  const { id } = secondary;
  assert.equal(status, 201);
  assert.equal(secondary.name, 'Lisbon');
  assert.deepEqual([secondary.url, secondary.internal_url], [`${lisbon.url}/`, `${lisbon.url}/`]);
  assert.deepEqual([secondary.primary, secondary.current, secondary.files_max_capacity], [false, false, 0]);
  assert.equal(secondary.web_edit_url, `${ownName}/admin/geo/sites/${id}/edit`);
  assert.equal(
    secondary.web_geo_replication_details_url,
    `${lisbon.url}/admin/geo/sites/${id}/replication/lfs_objects`,
  );
  assert.equal(secondary._links.self, `${ownName}/api/v4/geo_sites/${id}`);
  assert.equal(secondary.blob_download_timeout, 28800);
  assert.ok(!('credential' in secondary) && !('clone_protocol' in secondary));

  assert.deepEqual((await admin.get('/geo_sites')).body[1], secondary);
  assert.deepEqual((await admin.get(`/geo_sites/${id}`)).body, secondary);
  const page = await admin.get('/geo_nodes', { page: 2, per_page: 1 });
  assert.deepEqual([page.body.map((node: { id: number }) => node.id), page.headers.get('x-total')], [[id], '2']);

  const changed = await admin.put(`/geo_nodes/${id}`, {
    name: 'Porto',
    url: 'https://porto.example.com/forge',
    internal_url: 'http://10.0.0.2:3000',
    enabled: false,
    primary: true,
    minimum_reverification_interval: 30,
  });
  assert.equal(changed.status, 200);
  assert.deepEqual(
    [changed.body.name, changed.body.url, changed.body.internal_url, changed.body.enabled, changed.body.primary],
    ['Porto', 'https://porto.example.com/forge/', 'http://10.0.0.2:3000/', false, false],
  );
  assert.deepEqual([changed.body.files_max_capacity, changed.body.minimum_reverification_interval], [0, 30]);
  const cleared = await admin.put(`/geo_nodes/${id}`, { internal_url: null, blob_download_timeout: 60 });
  assert.equal(cleared.body.internal_url, 'https://porto.example.com/forge/');
  assert.equal((await admin.get(`/geo_sites/${id}`)).body.blob_download_timeout, 60);

  const kept = await admin.delete(`/geo_nodes/${primary.id}`);
  assert.deepEqual([kept.status, kept.body.message], [400, 'The primary cannot be removed while it has secondaries.']);
  assert.equal((await admin.delete(`/geo_sites/${id}`)).status, 204);
  assert.equal((await admin.delete(`/geo_nodes/${primary.id}`)).status, 204);
  assert.deepEqual((await admin.get('/geo_nodes')).body, []);
});

test('an invalid node is refused with reasons, and nothing changes', async () => {
  const here = await emptyWorld();
  const admin = here.as('admin');
  const primary = await addPrimary(here);
  const { body: secondary } = await admin.post('/geo_nodes', lisbon);
  const before = (await admin.get('/geo_nodes')).body;
  const both: [object, unknown][] = [
    [{ name: ' ' }, { name: ["can't be blank"] }],
    [{ name: 'é'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
    [{ url: '' }, { url: ["can't be blank"] }],
    [{ url: 'ftp://example.com' }, { url: ['must be a valid URL'] }],
    [{ url: 'https://me:secret@example.com' }, { url: ['must be a valid URL'] }],
    [{ internal_url: 'https://example.com/?a=b' }, { internal_url: ['must be a valid URL'] }],
    [{ internal_url: 'example.com' }, { internal_url: ['must be a valid URL'] }],
    [{ selective_sync_type: 'topics' }, { selective_sync_type: ['is not included in the list'] }],
    [{ selective_sync_shards: 'default,attic' }, { selective_sync_shards: ["can't include: attic"] }],
    [{ selective_sync_namespace_ids: [0, here.group.id] }, { selective_sync_namespace_ids: ["can't include: 0"] }],
    [{ repos_max_capacity: -1 }, { repos_max_capacity: ['must be greater than or equal to 0'] }],
    [{ files_max_capacity: 2 ** 31 }, { files_max_capacity: ['must be less than or equal to 2147483647'] }],
    [
      { minimum_reverification_interval: 0 },
      { minimum_reverification_interval: ['must be greater than or equal to 1'] },
    ],
    [{ blob_download_timeout: 86_401 }, { blob_download_timeout: ['must be less than or equal to 86400'] }],
    [{ verification_max_capacity: 'many' }, 'verification_max_capacity is invalid'],
    [{ enabled: 'perhaps' }, 'enabled is invalid'],
  ];
  for (const [given, message] of both) {
    const added = await admin.post('/geo_nodes', { name: 'Porto', url: 'https://porto.example.com', ...given });
    assert.deepEqual([added.status, added.body.message], [400, message], JSON.stringify(given));
    const changed = await admin.put(`/geo_nodes/${secondary.id}`, { ...given });
    assert.deepEqual([changed.status, changed.body.message], [400, message], JSON.stringify(given));
  }
  const added: [object, unknown][] = [
    [{}, 'name is missing, url is missing'],
    [{ name: 'Porto' }, 'url is missing'],
    [{ ...lisbon, name: 'LISBON' }, { name: ['has already been taken'] }],
    [{ ...lisbon, name: 'Porto', primary: true }, { primary: ['node already exists'] }],
  ];
  for (const [given, message] of added) {
    const answer = await admin.post('/geo_nodes', { ...given });
    assert.deepEqual([answer.status, answer.body.message], [400, message], JSON.stringify(given));
  }
  const lockedOut = { base: ['Current node must be the primary node or you will be locking yourself out'] };
  const changed: [number, object, unknown][] = [
    [secondary.id, { name: ownName }, { name: ['has already been taken'], ...lockedOut }],
    [primary.id, { name: 'lisbon' }, { name: ['has already been taken'] }],
    [primary.id, { enabled: false }, { enabled: ['Geo primary node cannot be disabled'] }],
  ];
  for (const [id, given, message] of changed) {
    const answer = await admin.put(`/geo_nodes/${id}`, { ...given });
    assert.deepEqual([answer.status, answer.body.message], [400, message], JSON.stringify(given));
  }
  assert.deepEqual((await admin.get('/geo_nodes')).body, before);
  assert.equal((await admin.put(`/geo_nodes/${secondary.id}`, { name: 'LISBON' })).body.name, 'LISBON');
});

test('the node of the responding server cannot become a secondary', async () => {
  const here = await emptyWorld();
  const { status, body } = await here.as('admin').post('/geo_nodes', { name: ownName, url: ownName });
  assert.equal(status, 400);
  assert.deepEqual(body.message, {
    base: ['Current node must be the primary node or you will be locking yourself out'],
  });
  const disabled = await here
    .as('admin')
    .post('/geo_nodes', { name: ownName, url: ownName, primary: true, enabled: false });
  assert.deepEqual(disabled.body.message, { enabled: ['Geo primary node cannot be disabled'] });
  assert.deepEqual((await here.as('admin').get('/geo_nodes')).body, []);
});

test('a secondary is limited to namespaces or storages, which are cleared or disappear', async () => {
  const here = await emptyWorld();
  const admin = here.as('admin');
  const { body: other } = await admin.post('/groups', { name: 'Short-lived', path: 'short-lived' });
  const { body: made } = await admin.post('/geo_nodes', {
    ...lisbon,
    selective_sync_type: 'namespaces',
    selective_sync_namespace_ids: `${other.id}, ${here.group.id}`,
    selective_sync_organization_ids: [1],
  });
  const path = `/geo_nodes/${made.id}`;
  assert.deepEqual(
    [made.selective_sync_type, made.selective_sync_namespace_ids],
    ['namespaces', [here.group.id, other.id].sort((a, b) => a - b)],
  );
  await here.db.deleteFrom('namespaces').where('id', '=', other.id).execute();
  assert.deepEqual((await admin.get(path)).body.selective_sync_namespace_ids, [here.group.id]);
  const byShards = await admin.put(path, { selective_sync_type: 'shards', selective_sync_shards: ['default'] });
  assert.deepEqual(
    [
      byShards.body.selective_sync_type,
      byShards.body.selective_sync_shards,
      byShards.body.selective_sync_namespace_ids,
    ],
    ['shards', ['default'], [here.group.id]],
  );
  const all = await admin.put(path, {
    selective_sync_type: '',
    selective_sync_shards: '',
    selective_sync_namespace_ids: null,
  });
  assert.deepEqual(
    [all.body.selective_sync_type, all.body.selective_sync_shards, all.body.selective_sync_namespace_ids],
    [null, [], []],
  );
});

test('only administrators see nodes, and only with the Premium plan', async () => {
  const here = await emptyWorld();
  const admin = here.as('admin');
  const { body: node } = await admin.post('/geo_nodes', lisbon);
  for (const [persona, status, message] of [
    ['anonymous', 401, '401 Unauthorized'],
    ['owner', 403, '403 Forbidden'],
  ] as const) {
    const client = here.as(persona);
    const answers = [
      await client.get('/geo_nodes'),
      await client.post('/geo_sites', { name: 'Porto', url: 'https://porto.example.com' }),
      await client.get(`/geo_nodes/${node.id}`),
      await client.put(`/geo_nodes/${node.id}`, { enabled: false }),
      await client.delete(`/geo_nodes/${node.id}`),
    ];
    for (const answer of answers) assert.deepEqual([answer.status, answer.body.message], [status, message]);
  }
  for (const [noun, text] of [
    ['geo_nodes', '404 GeoNode Not Found'],
    ['geo_sites', '404 GeoSite Not Found'],
  ]) {
    const answers = [
      await admin.get(`/${noun}/0`),
      await admin.put(`/${noun}/0`, { enabled: false }),
      await admin.delete(`/${noun}/0`),
    ];
    for (const answer of answers) assert.deepEqual([answer.status, answer.body.message], [404, text]);
    assert.equal((await admin.get(`/${noun}/first`)).body.message, 'id is invalid');
  }
  await changePlan(here, 'free');
  const refused = await admin.get('/geo_nodes');
  assert.deepEqual([refused.status, refused.body.message], [403, '403 Forbidden - This needs the Premium plan']);
  await changePlan(here, 'premium');
  assert.deepEqual((await admin.get('/geo_nodes')).body, [node]);
});

test('a primary adds its own node when it starts for the first time', async () => {
  const here = await emptyWorld();
  const geo = { role: 'primary', nodeName: 'Porto', primaryUrl: undefined, databaseUrl: undefined } as const;
  await Promise.all([1, 2].map(() => makeOwnNode({ ...here.services, geo })));
  await makeOwnNode({ ...here.services, geo: { ...geo, nodeName: 'Faro' } });
  const { body: nodes } = await here.as('admin').get('/geo_nodes');
  assert.deepEqual(
    nodes.map(({ name, url, primary, current }: Record<string, unknown>) => ({ name, url, primary, current })),
    [{ name: 'Porto', url: `${ownName}/`, primary: true, current: false }],
  );
});

test('a secondary shows nodes and refuses to change them', async (t) => {
  const here = await emptyWorld();
  const primary = await addPrimary(here);
  const { body: node } = await here.as('admin').post('/geo_nodes', lisbon);
  const environment = {
    COPPICE_GEO_ROLE: 'secondary',
    COPPICE_GEO_NODE_NAME: 'lisbon',
    COPPICE_GEO_PRIMARY_URL: here.url,
  };
  const secondary = await startServer(here.db, { environment });
  t.after(secondary.stop);
  const admin = clientOf(`${secondary.url}/api/v4`, here.people.admin.token);
  const { body: nodes } = await admin.get('/geo_nodes');
  assert.deepEqual(
    nodes.map(({ id, current }: Record<string, unknown>) => [id, current]),
    [
      [primary.id, false],
      [node.id, true],
    ],
  );
  const writes = [
    await admin.post('/geo_nodes', { name: 'Porto', url: 'https://porto.example.com' }),
    await admin.put(`/geo_sites/${node.id}`, { enabled: false }),
    await admin.delete(`/geo_nodes/${node.id}`),
  ];
  for (const { status, body } of writes)
    assert.deepEqual([status, body.message], [403, 'You cannot perform write operations on a read-only instance']);
  assert.equal(
    (await clientOf(`${secondary.url}/api/v4`, here.people.owner.token).delete(`/geo_nodes/${node.id}`)).body.message,
    '403 Forbidden',
  );
  assert.deepEqual((await here.as('admin').get(`/geo_nodes/${node.id}`)).body, node);
});
