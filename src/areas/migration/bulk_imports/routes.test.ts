import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrationOf, migrationPlace as place } from '../../../../test/support/source.ts';
import type { World } from '../../../../test/support/world.ts';

const started = ({ db, people }: World) =>
  db.selectFrom('bulk_imports').select('access_token').where('user_id', '=', people.owner.id).execute();

test('a migration is started, and only the user who started it sees it', async (t) => {
  const here = await place(t);
  const { source, as, entity, group } = here;
  const owner = as('owner');
  const begun = await owner.post('/bulk_imports', migrationOf({ ...source, url: `${source.url}/` }, [entity()]));
  assert.equal(begun.status, 201);
  const { id, created_at } = begun.body;
  const shown = { id, status: 'created', source_type: 'gitlab', source_url: source.url, created_at };
  assert.deepEqual(begun.body, { ...shown, updated_at: created_at, has_failures: false });
  assert.deepEqual((await owner.get(`/bulk_imports/${id}`)).body, begun.body);
  assert.deepEqual((await owner.get('/bulk_imports', { status: 'created', sort: 'asc' })).body, [begun.body]);
  assert.deepEqual((await owner.get('/bulk_imports', { status: 'finished' })).body, []);
  const { body: listed } = await owner.get(`/bulk_imports/${id}/entities`);
  assert.deepEqual(listed, [
    {
      id: listed[0]!.id,
      bulk_import_id: id,
      status: 'created',
      entity_type: 'group',
      source_full_path: 'orchard',
      ...{
        destination_full_path: null,
        destination_name: 'copy',
        destination_slug: 'copy',
        destination_namespace: group.full_path,
      },
      parent_id: null,
      namespace_id: null,
      project_id: null,
      created_at,
      updated_at: created_at,
      failures: [],
      migrate_projects: true,
      migrate_memberships: true,
      has_failures: false,
      stats: {},
    },
  ]);
  assert.deepEqual((await owner.get('/bulk_imports/entities')).body, listed);
  const ofEntity = `/bulk_imports/${id}/entities/${listed[0]!.id}`;
  assert.deepEqual((await owner.get(ofEntity)).body, listed[0]);
  assert.deepEqual((await owner.get(`${ofEntity}/failures`)).body, []);
  for (const persona of ['maintainer', 'admin'] as const) {
    assert.deepEqual((await as(persona).get('/bulk_imports')).body, []);
    for (const path of [`/bulk_imports/${id}`, `/bulk_imports/${id}/entities`, ofEntity, `${ofEntity}/failures`])
      assert.deepEqual([(await as(persona).get(path)).status, persona], [404, persona]);
    assert.equal((await as(persona).post(`/bulk_imports/${id}/retry`)).status, 404);
  }
  assert.equal((await as('maintainer').post(`/bulk_imports/${id}/cancel`)).status, 404);
  assert.equal((await as('anonymous').get('/bulk_imports')).status, 401);
  assert.equal((await owner.get('/bulk_imports/x')).body.message, 'id is invalid');
  const wrong = await owner.get('/bulk_imports', { status: 'x', sort: 'x' });
  assert.equal(wrong.body.message, 'status does not have a valid value, sort does not have a valid value');
  const [row] = await started(here);
  assert.ok(!row!.access_token!.includes(source.token));
});

test('a migration is canceled, also by administrators, and started again with another token', async (t) => {
  const here = await place(t);
  const { source, as, entity } = here;
  const { body: migration } = await as('owner').post('/bulk_imports', migrationOf(source, [entity()]));
  const retry = `/bulk_imports/${migration.id}/retry`;
  assert.equal((await as('owner').post(retry)).body.message, 'The migration has not ended.');
  const canceled = await as('admin').post(`/bulk_imports/${migration.id}/cancel`);
  assert.deepEqual([canceled.status, canceled.body.status], [200, 'canceled']);
  assert.equal((await as('owner').get(`/bulk_imports/${migration.id}/entities`)).body[0].status, 'canceled');
  const again = await as('owner').post(`/bulk_imports/${migration.id}/cancel`);
  assert.deepEqual([again.status, again.body.message], [400, 'The migration has already ended.']);
  assert.deepEqual(await started(here), [{ access_token: null }], 'the token is erased at once');
  assert.equal((await as('owner').post(retry)).body.message, 'access_token is missing');
  const retried = await as('owner').post(retry, { access_token: source.token });
  assert.deepEqual([retried.status, retried.body.status], [200, 'started']);
  assert.equal((await as('owner').get(`/bulk_imports/${migration.id}/entities`)).body[0].status, 'started');
});

test('parameters are read from forms, and all their errors are reported together', async (t) => {
  const { source, as, url, people, entity, group } = await place(t);
  const fields = new URLSearchParams([
    ['configuration[url]', source.url],
    ['configuration[access_token]', ` ${source.token}\n`],
    ...[{ destination_slug: 'one' }, { destination_slug: 'two', migrate_projects: 'false' }].flatMap((changes) =>
      Object.entries(entity(changes)).map(([name, value]): [string, string] => [`entities[][${name}]`, value]),
    ),
  ]);
  const headers = { 'private-token': people.owner.token };
  const sent = await fetch(`${url}/api/v4/bulk_imports`, { method: 'POST', headers, body: fields });
  assert.equal(sent.status, 201);
  const { body: made } = await as('owner').get('/bulk_imports/entities', { sort: 'asc' });
  assert.deepEqual(
    made.map((each: { destination_slug: string; migrate_projects: boolean }) => [
      each.destination_slug,
      each.migrate_projects,
    ]),
    [
      ['one', true],
      ['two', false],
    ],
  );
  const post = async (body: Record<string, unknown>) => (await as('owner').post('/bulk_imports', body)).body.message;
  assert.equal(
    await post({}),
    'configuration is missing, configuration[url] is missing, configuration[url] is empty, configuration[access_token] is missing, configuration[access_token] is empty, entities is missing',
  );
  assert.equal(await post(migrationOf(source, [])), 'entities is empty');
  assert.equal(await post(migrationOf(source, Array(101).fill(entity()))), 'entities has more than 100 elements');
  const bad = { source_type: 'x', source_full_path: 'https://example.com/a', destination_namespace: '/a/' };
  assert.equal(
    await post(migrationOf(source, [entity(), bad])),
    "entities[1][source_type] does not have a valid value, entities[1][source_full_path] must be a relative path and not include protocol, sub-domain, or domain information. For example, 'source/full/path' not 'https://example.com/source/full/path', entities[1][destination_slug] is missing, entities[1][destination_slug] is empty, entities[1][destination_namespace] must have a relative path structure with no HTTP protocol characters, or leading or trailing forward slashes. Path segments must not start or end with a special character, and must not contain consecutive special characters.",
  );
  const old = {
    source_type: 'group_entity',
    source_full_path: 'orchard',
    destination_name: 'old',
    destination_namespace: group.full_path,
  };
  assert.equal((await as('owner').post('/bulk_imports', migrationOf(source, [old]))).status, 201);
  assert.equal((await as('owner').get('/bulk_imports/entities')).body[0].destination_slug, 'old');
});

test('calls are limited to six a minute', async (t) => {
  const { source, as, entity } = await place(t);
  const statuses: number[] = [];
  for (let calls = 0; calls < 7; calls++)
    statuses.push(
      (await as('owner').post('/bulk_imports', migrationOf(source, [entity({ destination_slug: `c${calls}` })])))
        .status,
    );
  assert.deepEqual(statuses, [201, 201, 201, 201, 201, 201, 429]);
});

test('entities that cannot be migrated are refused before anything is stored', async (t) => {
  const here = await place(t);
  const { source, as, entity, group, person, people, db, project } = here;
  const refusal = async (entities: object[], configuration: object = {}) => {
    await db.deleteFrom('request_counts').where('name', '=', 'bulk_import').execute();
    const body = { configuration: { url: source.url, access_token: source.token, ...configuration }, entities };
    const { status, body: answer } = await as('owner').post('/bulk_imports', body);
    assert.ok(!JSON.stringify(answer).includes(source.token));
    return [status, answer.message];
  };
  const invalidUrl = 'Invalid source URL. Enter only the base URL of the source GitLab instance.';
  const blocked = 'Import failed. The URL is blocked:';
  assert.deepEqual(await refusal([entity()], { url: 'ftp://example.com' }), [
    422,
    `${blocked} Only allowed schemes are http, https`,
  ]);
  assert.deepEqual(await refusal([entity()], { url: `${source.url}?a=1` }), [422, invalidUrl]);
  assert.deepEqual(await refusal([entity()], { url: 'http://user:pass@127.0.0.1:1' }), [422, invalidUrl]);
  assert.deepEqual(await refusal([entity()], { url: 'http://127.0.0.1:1' }), [422, invalidUrl]);
  const token =
    'Check that the source instance base URL and the personal access token meet the necessary requirements.';
  assert.deepEqual(await refusal([entity()], { access_token: 'other' }), [422, token]);
  const answer = (call: string, status: number, value: unknown) =>
    source.answers.set(call, (response) => response.writeHead(status).end(JSON.stringify(value)));
  answer('GET /version', 200, { version: '13.12.0' });
  assert.deepEqual(await refusal([entity()]), [422, 'Unsupported GitLab version. Minimum supported version is 14.']);
  answer('GET /version', 404, {});
  assert.deepEqual(await refusal([entity()]), [422, invalidUrl]);
  answer('GET /metadata', 200, { version: '14.0.1' });
  answer('GET /personal_access_tokens/self', 200, { active: true, scopes: ['read_api'] });
  assert.deepEqual(await refusal([entity()]), [422, token]);
  answer('GET /personal_access_tokens/self', 404, {});
  assert.deepEqual(await refusal([entity({ source_full_path: 'a/b' })]), [422, "Import failed. 'a/b' not found."]);
  answer('GET /groups/orchard/export_relations/status', 403, {});
  assert.deepEqual(await refusal([entity()]), [422, "Import failed. You don't have permission to export 'orchard'."]);
  answer('GET /groups/orchard/export_relations/status', 404, {});
  assert.deepEqual(await refusal([entity()]), [
    422,
    'Migration by direct transfer disabled on source or destination instance. Ask an administrator to enable it on both instances and try again.',
  ]);
  source.answers.clear();
  const elsewhere = (path: string) => [
    422,
    `Import failed. Destination '${path}' is invalid, or you don't have permission.`,
  ];
  assert.deepEqual(await refusal([entity({ destination_namespace: 'not/there' })]), elsewhere('not/there'));
  const { username } = people.owner;
  assert.deepEqual(await refusal([entity({ destination_namespace: username })]), elsewhere(username));
  const ofProject = { source_type: 'project_entity', source_full_path: 'orchard/apples' };
  assert.deepEqual(await refusal([entity({ ...ofProject, destination_namespace: '' })]), elsewhere(''));
  const slug =
    "Import failed. Destination URL can only include non-accented letters, digits, '_', '-' and '.'. It must not start with '-', '_', or '.', nor end with '-', '_', '.', '.git', or '.atom'.";
  assert.deepEqual(await refusal([entity({ destination_slug: 'a b' })]), [422, slug]);
  const taken = (path: string) => [
    422,
    `Import failed. '${path}' already exists. Change the destination and try again.`,
  ];
  assert.deepEqual(await refusal([entity({ destination_slug: project.path })]), taken(project.full_path));
  assert.deepEqual(
    await refusal([entity(), entity({ ...ofProject, destination_slug: 'COPY' })]),
    taken(`${group.full_path}/COPY`),
  );
  const { client } = await person();
  const ofOutsider = await client.post('/bulk_imports', migrationOf(source, [entity()]));
  assert.deepEqual([ofOutsider.status, ofOutsider.body.message], elsewhere(group.full_path));
  await as('admin').put('/application/settings', { allow_local_requests_from_web_hooks_and_services: false });
  assert.deepEqual(await refusal([entity()]), [422, `${blocked} Requests to localhost are not allowed`]);
  assert.deepEqual(await started(here), []);
  await as('admin').put('/application/settings', { bulk_import_enabled: false });
  assert.deepEqual(await refusal([entity()]), [404, '404 Not Found']);
  for (const path of ['', '/entities', '/1', '/1/entities', '/1/entities/1', '/1/entities/1/failures'])
    assert.deepEqual((await as('owner').get(`/bulk_imports${path}`)).body, { message: '404 Not Found' });
  assert.equal((await as('anonymous').get('/bulk_imports')).status, 401);
  await as('admin').put('/application/settings', { bulk_import_enabled: true });
});
