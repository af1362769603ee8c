import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../test/support/client.ts';
import { personWith } from '../../../../test/support/member_roles.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

const places = ({ project, group }: World): [string, Persona, Persona][] => [
  [`/projects/${project.id}/deploy_tokens`, 'maintainer', 'developer'],
  [`/groups/${group.id}/deploy_tokens`, 'owner', 'maintainer'],
];

test('a deploy token is created, shown without its value, listed and deleted', async () => {
  const here = await world();
  for (const [path, manager, other] of places(here)) {
    const as = here.as(manager);
    const made = await as.post(path, {
      name: 'build',
      scopes: ['read_repository', 'read_registry'],
      username: 'builder',
      expires_at: '2031-01-01',
    });
    assert.equal(made.status, 201);
    const { token, ...shown } = made.body;
    assert.match(token, /^gldt-[\w-]{20,}$/);
    assert.deepEqual(shown, {
      id: shown.id,
      name: 'build',
      username: 'builder',
      expires_at: '2031-01-01T00:00:00.000Z',
      revoked: false,
      expired: false,
      scopes: ['read_repository', 'read_registry'],
    });
    assert.deepEqual((await as.get(path)).body, [shown]);
    assert.deepEqual((await as.get(`${path}/${shown.id}`)).body, shown);
    assert.ok(
      (await here.as('admin').get('/deploy_tokens', { per_page: 100 })).body.some(
        ({ id }: { id: number }) => id === shown.id,
      ),
    );

    assert.equal((await here.as(other).get(path)).status, 403);
    assert.equal((await here.as(other).post(path, { name: 'x', scopes: ['read_repository'] })).status, 403);
    assert.equal((await here.as(other).delete(`${path}/${shown.id}`)).status, 403);
    assert.equal((await here.as('anonymous').get(path)).status, 401);

    const [first, second] = await Promise.all([as.delete(`${path}/${shown.id}`), as.delete(`${path}/${shown.id}`)]);
    assert.deepEqual([first.status, second.status].toSorted(), [204, 404]);
    assert.deepEqual((await as.get(`${path}/${shown.id}`)).body, { message: '404 Not found' });
  }
  assert.equal((await here.as('owner').get('/deploy_tokens')).status, 403);
});

test('a username is derived from the id, and several tokens can have the same one', async () => {
  const here = await world();
  for (const [path, manager] of places(here)) {
    const as = here.as(manager);
    const { body } = await as.post(path, { name: 'build', scopes: ['read_repository'] });
    assert.equal(body.username, `gitlab+deploy-token-${body.id}`);
    assert.equal(body.expires_at, null);
    const again = await as.post(path, { name: 'build', scopes: ['read_repository'], username: body.username });
    assert.deepEqual([again.status, again.body.username], [201, body.username]);
    const names = (await as.get(path)).body.map(({ username }: { username: string }) => username);
    assert.deepEqual(names, [body.username, body.username]);
  }
});

test('invalid values of a deploy token are refused, and none is created', async () => {
  const { as, project } = await world();
  const path = `/projects/${project.id}/deploy_tokens`;
  const scopes = ['read_repository'];
  const refusals: [object, string | object][] = [
    [{ scopes }, 'name is missing, name is empty'],
    [{ name: 'a' }, 'scopes is required'],
    [{ name: 'a', scopes: [] }, 'scopes is required'],
    [{ name: 'a', scopes: ['api'] }, 'scopes does not have a valid value'],
    [{ name: 'a', scopes, expires_at: 'soon' }, 'expires_at is invalid'],
    [{ name: 'a', scopes, expires_at: '2001-01-01' }, { expires_at: ['cannot be a date in the past'] }],
    [
      { name: 'a', scopes, username: 'a b' },
      { username: ["can contain only letters, digits, '_', '-', '+', and '.'"] },
    ],
    [{ name: 'n'.repeat(256), scopes }, { name: ['is too long (maximum is 255 characters)'] }],
  ];
  for (const [body, message] of refusals) {
    const refused = await as('maintainer').post(path, { ...body });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.deepEqual((await as('maintainer').get(path)).body, []);
});

test('the list shows active or expired tokens', async () => {
  const { as, project, db } = await world();
  const path = `/projects/${project.id}/deploy_tokens`;
  const scopes = ['read_repository'];
  for (const [name, expires_at] of [
    ['lasting', null],
    ['later', '2031-01-01'],
    ['today', new Date().toISOString().slice(0, 10)],
    ['over', '2031-01-01'],
  ])
    await as('maintainer').post(path, { name, scopes, expires_at });
  // Years pass.
  await db.updateTable('deploy_tokens').set({ expires_at: '2001-01-01' }).where('name', '=', 'over').execute();
  const names = async (query: Record<string, unknown>) =>
    (await as('maintainer').get(path, query)).body.map(({ name }: { name: string }) => name);
  assert.deepEqual(await names({}), ['lasting', 'later', 'today', 'over']);
  assert.deepEqual(await names({ active: true }), ['lasting', 'later', 'today']);
  assert.deepEqual(await names({ active: false }), ['over']);
});

test('a deploy token reads raw files of its projects, and nothing else of the API', async () => {
  const here = await world();
  const { as, project, url } = here;
  const file = `/projects/${project.id}/repository/files/a.txt`;
  await as('maintainer').post(file, { branch: 'main', content: 'one\n', commit_message: 'Add a' });
  for (const [path, manager] of places(here)) {
    const { body } = await as(manager).post(path, { name: 'build', scopes: ['read_repository'] });
    const deploy = clientOf(`${url}/api/v4`, body.token);
    assert.deepEqual(
      [(await deploy.get(`${file}/raw`)).status, (await deploy.get(`${file}/raw`)).body],
      [200, 'one\n'],
    );
    const bearer = { headers: { authorization: `Bearer ${body.token}` } };
    assert.equal((await as('anonymous').head(`${file}/raw`, {}, bearer)).status, 200);
    for (const other of [file, `/projects/${project.id}`, '/user', '/version', path]) {
      const refused = await deploy.get(other, { ref: 'main' });
      assert.deepEqual([refused.status, refused.body], [401, { message: '401 Unauthorized' }], other);
    }
    const elsewhere = await world();
    assert.equal((await deploy.get(`/projects/${elsewhere.project.id}/repository/files/a.txt/raw`)).status, 404);
    await as(manager).delete(`${path}/${body.id}`);
    assert.equal((await deploy.get(`${file}/raw`)).status, 401);
  }
  const scopes = ['read_registry'];
  const { body } = await as('maintainer').post(`/projects/${project.id}/deploy_tokens`, { name: 'other', scopes });
  assert.equal((await clientOf(`${url}/api/v4`, body.token).get(`${file}/raw`)).status, 403);
});

test('a guest whose role has manage_deploy_tokens manages deploy tokens', async () => {
  const here = await world();
  const { client } = await personWith(here, `/groups/${here.group.id}`, ['manage_deploy_tokens']);
  for (const [path] of places(here))
    assert.equal((await client.post(path, { name: 'build', scopes: ['read_repository'] })).status, 201);
});
