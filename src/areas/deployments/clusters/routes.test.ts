import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { rootCertificates } from 'node:tls';
import { performQueued } from '../../../../test/support/jobs.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { removeUser } from '../../people/users/index.ts';

const [certificate] = rootCertificates as [string];
const platform = { api_url: 'https://kube.example.com:6443', token: 'secret-of-the-cluster' };

/** Clusters belong to the instance, which all worlds of a file share. */
async function emptyWorld(t: TestContext): Promise<World> {
  const here = await world({});
  t.after(async () => {
    await here.db.deleteFrom('clusters').execute();
    await here.db
      .updateTable('application_settings')
      .set({ allow_local_requests_from_web_hooks_and_services: false })
      .execute();
  });
  return here;
}

const bodyOf = (name: string, more: object = {}, ofPlatform: object = {}) => ({
  name,
  environment_scope: name,
  ...more,
  platform_kubernetes_attributes: { ...platform, ...ofPlatform },
});

async function added({ as }: World, ...body: Parameters<typeof bodyOf>) {
  const answer = await as('admin').post('/admin/clusters/add', bodyOf(...body));
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

test('a cluster is added with few parameters, shown, listed, updated and removed', async (t) => {
  const here = await emptyWorld(t);
  const { as, people, project, group } = here;
  const answer = await as('admin').post('/admin/clusters/add', {
    name: 'Orchard',
    platform_kubernetes_attributes: platform,
  });
  assert.equal(answer.status, 201);
  const { id, created_at } = answer.body;
  const { username } = people.admin;
  assert.deepEqual(answer.body, {
    id,
    name: 'Orchard',
    created_at,
    domain: null,
    enabled: true,
    managed: true,
    provider_type: 'user',
    platform_type: 'kubernetes',
    environment_scope: '*',
    cluster_type: 'instance_type',
    namespace_per_environment: true,
    user: {
      id: people.admin.id,
      username,
      name: username.replaceAll('-', ' '),
      state: 'active',
      avatar_url: null,
      web_url: `${here.services.url}/${username}`,
    },
    platform_kubernetes: { api_url: platform.api_url, namespace: null, authorization_type: 'rbac', ca_cert: null },
    provider_gcp: null,
    management_project: null,
  });

  const other = await added(
    here,
    'production/*',
    {
      domain: 'apps.example.com',
      enabled: false,
      managed: false,
      management_project_id: project.id,
      namespace_per_environment: false,
    },
    { ca_cert: `\n${certificate}\n`, namespace: ' 7-Orchard ', authorization_type: 'abac' },
  );
  assert.deepEqual(other.platform_kubernetes, {
    api_url: platform.api_url,
    namespace: '7-orchard',
    authorization_type: 'abac',
    ca_cert: certificate.trim(),
  });
  assert.equal(other.namespace_per_environment, false);
  const { created_at: made, ...identity } = other.management_project;
  assert.deepEqual(identity, {
    id: project.id,
    description: null,
    name: project.path,
    name_with_namespace: `${group.path} / ${project.path}`,
    path: project.path,
    path_with_namespace: project.full_path,
  });
  assert.match(made, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

  assert.deepEqual((await as('admin').get(`/admin/clusters/${id}`)).body, answer.body);
  assert.deepEqual((await as('admin').get('/admin/clusters')).body, [answer.body, other]);
  const second = await as('admin').get('/admin/clusters', { per_page: 1, page: 2 });
  assert.deepEqual(second.body, [other]);
  assert.equal(second.headers.get('x-total'), '2');

  const changed = await as('admin').put(`/admin/clusters/${other.id}`, {
    name: 'Renamed',
    domain: '',
    enabled: true,
    environment_scope: 'review',
    management_project_id: null,
    managed: true,
    platform_kubernetes_attributes: {
      api_url: 'https://other.example.com',
      ca_cert: '',
      namespace: '',
      authorization_type: 'rbac',
    },
  });
  assert.equal(changed.status, 200);
  assert.deepEqual(changed.body, {
    ...{
      ...other,
      name: 'Renamed',
      domain: null,
      enabled: true,
      environment_scope: 'review',
      managed: true,
      management_project: null,
    },
    // Left out, it becomes true; the kind of authorization cannot be changed.
    namespace_per_environment: true,
    platform_kubernetes: {
      api_url: 'https://other.example.com',
      namespace: null,
      authorization_type: 'abac',
      ca_cert: null,
    },
    project: null,
  });

  assert.equal((await as('admin').delete(`/admin/clusters/${id}`)).status, 204);
  assert.deepEqual((await as('admin').get(`/admin/clusters/${id}`)).body, { message: '404 Not found' });
  assert.equal((await as('admin').delete(`/admin/clusters/${id}`)).status, 404);
  assert.equal((await as('admin').put(`/admin/clusters/${id}`, { name: 'x' })).status, 404);
  const odd = await as('admin').get('/admin/clusters/abc');
  assert.deepEqual([odd.status, odd.body.error], [400, 'cluster_id is invalid']);
});

test('only administrators can read or change clusters', async (t) => {
  const here = await emptyWorld(t);
  const { id } = await added(here, 'Orchard');
  for (const [persona, status, message] of [
    ['anonymous', 401, '401 Unauthorized'],
    ['owner', 403, '403 Forbidden'],
  ] as const) {
    const client = here.as(persona);
    for (const answer of [
      await client.get('/admin/clusters'),
      await client.get(`/admin/clusters/${id}`),
      await client.get('/admin/clusters/0'),
      await client.post('/admin/clusters/add', bodyOf('mine')),
      await client.put(`/admin/clusters/${id}`, { name: 'mine' }),
      await client.delete(`/admin/clusters/${id}`),
    ])
      assert.deepEqual([answer.status, answer.body], [status, { message }]);
  }
  assert.deepEqual(
    (await here.as('admin').get('/admin/clusters')).body.map(({ name }: { name: string }) => name),
    ['Orchard'],
  );
});

test('missing and invalid parameters are refused', async (t) => {
  const { as } = await emptyWorld(t);
  const at = (member: string) => `platform_kubernetes_attributes[${member}]`;
  const refusals: [object, string][] = [
    [{ platform_kubernetes_attributes: platform }, 'name is missing'],
    [
      { name: 'x' },
      `platform_kubernetes_attributes is missing, ${at('api_url')} is missing, ${at('token')} is missing`,
    ],
    [{ name: 'x', platform_kubernetes_attributes: { api_url: platform.api_url } }, `${at('token')} is missing`],
    [{ name: 'x', platform_kubernetes_attributes: { token: 'x' } }, `${at('api_url')} is missing`],
    [bodyOf('x', {}, { api_url: ' ' }), `${at('api_url')} is empty`],
    [bodyOf('x', {}, { api_url: {} }), `${at('api_url')} is invalid`],
    [bodyOf('x', {}, { authorization_type: 'none' }), `${at('authorization_type')} does not have a valid value`],
    [bodyOf('x', { enabled: 'maybe' }), 'enabled is invalid'],
    [bodyOf('x', { managed: [] }), 'managed is invalid'],
    [bodyOf('x', { management_project_id: 'x' }), 'management_project_id is invalid'],
    [{ name: 'x', platform_kubernetes_attributes: 'x' }, 'platform_kubernetes_attributes is invalid'],
  ];
  for (const [body, text] of refusals) {
    const answer = await as('admin').post('/admin/clusters/add', { ...body });
    assert.deepEqual([answer.status, answer.body], [400, { message: text, error: text }]);
  }
  assert.deepEqual((await as('admin').get('/admin/clusters')).body, []);
});

const refusedValues: [object, object, Record<string, string[]>][] = [
  [{ name: ' ' }, {}, { name: [' has to be present'] }],
  [{ domain: 'a_b' }, {}, { domain: ['label contains invalid characters (valid characters: [a-z0-9\\-])'] }],
  [{ environment_scope: '' }, {}, { environment_scope: ["can't be blank"] }],
  [{ environment_scope: 'x'.repeat(256) }, {}, { environment_scope: ['is too long (maximum is 255 characters)'] }],
  [{ environment_scope: 'taken' }, {}, { environment_scope: ['cannot add duplicated environment scope'] }],
  [
    { management_project_id: 0 },
    {},
    { management_project_id: ["Project does not exist or you don't have permission to perform this action"] },
  ],
  [
    {},
    { api_url: 'ftp://a.example' },
    { 'platform_kubernetes.api_url': ['is blocked: Only allowed schemes are http, https'] },
  ],
  [
    {},
    { api_url: 'https://10.0.0.1' },
    { 'platform_kubernetes.api_url': ['is blocked: Requests to the local network are not allowed'] },
  ],
  [
    {},
    { api_url: 'https://localhost' },
    { 'platform_kubernetes.api_url': ['is blocked: Requests to localhost are not allowed'] },
  ],
  [{}, { token: ' ' }, { 'platform_kubernetes.token': ["can't be blank"] }],
  [{}, { token: 'x'.repeat(8193) }, { 'platform_kubernetes.token': ['is too long (maximum is 8192 characters)'] }],
  [{}, { ca_cert: 'x' }, { 'platform_kubernetes.ca_cert': ['must be a valid PEM certificate'] }],
  [{ managed: false }, { namespace: 'gitlab-managed-apps' }, { 'platform_kubernetes.namespace': ['is reserved'] }],
  [
    { managed: true },
    { namespace: 'orchard' },
    { 'platform_kubernetes.namespace': ['only allowed for project cluster'] },
  ],
  [
    { name: '', managed: true },
    { token: '', namespace: 'orchard' },
    {
      name: [' has to be present'],
      'platform_kubernetes.token': ["can't be blank"],
      'platform_kubernetes.namespace': ['only allowed for project cluster'],
    },
  ],
];

test('an invalid value is refused by field, and a failed update changes nothing', async (t) => {
  const here = await emptyWorld(t);
  const { as, db } = here;
  await added(here, 'taken');
  const { id } = await added(here, 'Orchard', { managed: false }, { namespace: 'orchard', ca_cert: certificate });
  const rows = () => db.selectFrom('clusters').selectAll().orderBy('id').execute();
  const before = await rows();
  for (const [values, ofPlatform, message] of refusedValues) {
    const post = await as('admin').post('/admin/clusters/add', bodyOf('new', values, ofPlatform));
    assert.deepEqual([post.status, post.body], [400, { message }]);
    const put = await as('admin').put(`/admin/clusters/${id}`, {
      domain: 'changed.example',
      enabled: false,
      ...values,
      platform_kubernetes_attributes: { ...ofPlatform },
    });
    assert.deepEqual([put.status, put.body], [400, { message }]);
    assert.deepEqual(await rows(), before);
  }
  // The namespace that it has does not stay when it becomes managed.
  const managed = await as('admin').put(`/admin/clusters/${id}`, { managed: true });
  assert.deepEqual(managed.body, {
    message: { 'platform_kubernetes.namespace': ['only allowed for project cluster'] },
  });
  assert.deepEqual(await rows(), before);
  const without = { managed: true, platform_kubernetes_attributes: { namespace: null } };
  assert.equal((await as('admin').put(`/admin/clusters/${id}`, without)).body.managed, true);
});

test('only one of several clusters that are added concurrently for one scope is created', async (t) => {
  const { as, db } = await emptyWorld(t);
  const client = as('admin');
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, turn) =>
      client.post('/admin/clusters/add', { ...bodyOf(`c${turn}`), environment_scope: 'same' }),
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(400)]);
  for (const { body } of answers.filter(({ status }) => status === 400))
    assert.deepEqual(body, { message: { environment_scope: ['cannot add duplicated environment scope'] } });
  assert.equal((await db.selectFrom('clusters').select('id').execute()).length, 1);
});

test('values that a provider manages cannot be updated, and all others can', async (t) => {
  const here = await emptyWorld(t);
  const { as, db } = here;
  const { id } = await added(here, 'Orchard');
  await db.updateTable('clusters').set({ provider_type: 'gcp' }).where('id', '=', id).execute();
  const refusals: [object, object][] = [
    [{ name: 'Other' }, { name: [" can not be changed because it's synchronized with provider"] }],
    ...[{ api_url: 'https://other.example.com' }, { token: 'other' }, { ca_cert: certificate }].map(
      (changes): [object, object] => [
        { platform_kubernetes_attributes: changes },
        { 'platform_kubernetes.base': ['Cannot modify managed Kubernetes cluster'] },
      ],
    ),
  ];
  const row = () => db.selectFrom('clusters').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const before = await row();
  for (const [changes, message] of refusals) {
    const answer = await as('admin').put(`/admin/clusters/${id}`, { enabled: false, ...changes });
    assert.deepEqual([answer.status, answer.body], [400, { message }]);
    assert.deepEqual(await row(), before);
  }
  const same = { name: 'Orchard', enabled: false, platform_kubernetes_attributes: { api_url: platform.api_url } };
  const changed = await as('admin').put(`/admin/clusters/${id}`, { ...same });
  assert.deepEqual([changed.status, changed.body.enabled, changed.body.provider_type], [200, false, 'gcp']);
});

test('a cluster can be in the local network if administrators allow it', async (t) => {
  const here = await emptyWorld(t);
  const inside = { api_url: 'https://10.0.0.1:6443' };
  const refused = await here.as('admin').post('/admin/clusters/add', bodyOf('Orchard', {}, inside));
  assert.equal(refused.status, 400);
  const allowed = { allow_local_requests_from_web_hooks_and_services: true };
  assert.equal(
    (await here.as('admin').put('/application/settings', { ...allowed })).body
      .allow_local_requests_from_web_hooks_and_services,
    true,
  );
  assert.equal((await added(here, 'Orchard', {}, inside)).platform_kubernetes.api_url, inside.api_url);
});

test('a cluster survives its management project, and belongs to the ghost user after its creator is deleted', async (t) => {
  const here = await emptyWorld(t);
  const { as, db, project } = here;
  const { id: leaving, client } = await here.person({ admin: true });
  const answer = await client.post('/admin/clusters/add', bodyOf('Orchard', { management_project_id: project.id }));
  assert.equal(answer.body.user.id, leaving);
  await db.deleteFrom('projects').where('id', '=', project.id).execute();
  const shown = async () => (await as('admin').get(`/admin/clusters/${answer.body.id}`)).body;
  assert.deepEqual(await shown(), { ...answer.body, management_project: null });
  assert.equal((await as('admin').delete(`/users/${leaving}`)).status, 204);
  await performQueued(here.services, [removeUser]);
  assert.equal((await shown()).user.username, 'ghost');
});

test('a cluster that has changed since the caller read it is not deleted', async (t) => {
  const here = await emptyWorld(t);
  const { id } = await added(here, 'Orchard');
  const early = { headers: { 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' } };
  const refused = await here.as('admin').delete(`/admin/clusters/${id}`, {}, early);
  assert.deepEqual([refused.status, refused.body], [412, { message: '412 Precondition Failed' }]);
  const late = { headers: { 'if-unmodified-since': new Date(Date.now() + 5000).toUTCString() } };
  assert.equal((await here.as('admin').delete(`/admin/clusters/${id}`, {}, late)).status, 204);
});
