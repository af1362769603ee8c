import assert from 'node:assert/strict';
import { test } from 'node:test';
import { personWith } from '../../../../test/support/member_roles.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

/** The three places of variables, with who may manage them and who may not. */
const places = ({ project, group }: World): [string, Persona, Persona][] => [
  [`/projects/${project.id}/variables`, 'maintainer', 'developer'],
  [`/groups/${group.id}/variables`, 'owner', 'maintainer'],
  ['/admin/ci/variables', 'admin', 'owner'],
];

test('variables of projects, groups and the instance are created, listed, updated and deleted', async () => {
  const here = await world({});
  for (const [path, manager, other] of places(here)) {
    const as = here.as(manager);
    const scope = manager === 'admin' ? {} : { environment_scope: '*', hidden: false };
    const made = await as.post(path, { key: 'REGION', value: 'eu west', description: 'Where' });
    assert.equal(made.status, 201);
    assert.deepEqual(made.body, {
      variable_type: 'env_var',
      key: 'REGION',
      value: 'eu west',
      protected: false,
      masked: false,
      raw: false,
      ...scope,
      description: 'Where',
    });
    assert.deepEqual((await as.get(path)).body, [made.body]);

    const changed = await as.put(`${path}/REGION`, {
      value: 'a\nfile',
      variable_type: 'file',
      protected: true,
      raw: true,
    });
    assert.deepEqual(
      [changed.status, changed.body],
      [200, { ...made.body, value: 'a\nfile', variable_type: 'file', protected: true, raw: true }],
    );
    assert.deepEqual((await as.get(`${path}/REGION`)).body, changed.body);

    for (const attempt of ['get', 'put', 'delete'] as const)
      assert.equal((await here.as(other)[attempt](`${path}/REGION`, { value: 'x' })).status, 403);
    assert.equal((await here.as(other).post(path, { key: 'A', value: 'x' })).status, 403);
    assert.equal((await here.as('anonymous').get(path)).status, 401);
    assert.deepEqual((await as.get(path)).body, [changed.body]);

    assert.equal((await as.delete(`${path}/REGION`)).status, 204);
    const gone = await as.get(`${path}/REGION`);
    assert.deepEqual([gone.status, gone.body.message], [404, '404 Variable Not Found']);
  }
});

test('invalid values of a variable are refused by field, and nothing is stored', async () => {
  const here = await world({});
  for (const [path, manager] of places(here)) {
    const as = here.as(manager);
    const refusals: [object, object][] = [
      [{ key: 'a-b', value: 'x' }, { key: ["can contain only letters, digits and '_'."] }],
      [{ key: 'é', value: 'x' }, { key: ["can contain only letters, digits and '_'."] }],
      [{ key: 'K'.repeat(256), value: 'x' }, { key: ['is too long (maximum is 255 characters)'] }],
      [{ key: 'K', value: 'é'.repeat(5001) }, { value: ['is too long (maximum is 10000 bytes)'] }],
      [
        { key: 'K', value: 'x', description: 'd'.repeat(256) },
        { description: ['is too long (maximum is 255 characters)'] },
      ],
      [{ key: 'K', value: 'short', masked: true }, { value: ['is invalid'] }],
      [{ key: 'K', value: 'two lines\nof text', masked: true }, { value: ['is invalid'] }],
      [{ key: 'K', value: 'short', masked_and_hidden: true }, { value: ['is invalid'] }],
    ];
    for (const [body, message] of refusals) {
      const refused = await as.post(path, { ...body });
      assert.deepEqual([refused.status, refused.body], [400, { message }]);
    }
    assert.equal((await as.post(path, { key: 'K' })).body.error, 'value is missing');
    assert.equal((await as.post(path, { key: 'K', value: 'x', variable_type: 'secret' })).status, 400);
    assert.deepEqual((await as.get(path)).body, []);
  }
});

test('a key has one value per environment scope, and the filter selects one', async () => {
  const here = await world({});
  for (const [path, manager] of places(here).slice(0, 2)) {
    const as = here.as(manager);
    await as.post(path, { key: 'URL', value: 'https://live', environment_scope: 'production' });
    await as.post(path, { key: 'URL', value: 'https://other' });
    const twice = await as.post(path, { key: 'URL', value: 'x', environment_scope: 'production' });
    assert.deepEqual([twice.status, twice.body], [400, { message: { key: ['(URL) has already been taken'] } }]);

    const ambiguous = await as.get(`${path}/URL`);
    assert.equal(ambiguous.status, 409);
    assert.match(ambiguous.body.message, /filter\[environment_scope\]/);
    assert.equal((await as.delete(`${path}/URL`)).status, 409);
    const live = await as.get(`${path}/URL`, { filter: { environment_scope: 'production' } });
    assert.equal(live.body.value, 'https://live');
    const moved = await as.put(`${path}/URL`, { environment_scope: '*', filter: { environment_scope: 'production' } });
    assert.equal(moved.status, 400);

    assert.equal((await as.delete(`${path}/URL?filter[environment_scope]=production`)).status, 204);
    assert.equal((await as.get(`${path}/URL`)).body.value, 'https://other');
    assert.equal((await as.delete(`${path}/URL?filter[environment_scope]=staging`)).status, 404);
  }
});

test('a hidden value is never shown and stays masked', async () => {
  const { as, project } = await world({});
  const path = `/projects/${project.id}/variables`;
  const made = await as('maintainer').post(path, { key: 'PASSWORD', value: 'correct-horse', masked_and_hidden: true });
  assert.deepEqual([made.body.value, made.body.masked, made.body.hidden], [null, true, true]);
  assert.deepEqual((await as('maintainer').get(path)).body, [made.body]);
  const shown = await as('maintainer').put(`${path}/PASSWORD`, { masked: false });
  const text = 'The visibility setting cannot be changed for hidden variables.';
  assert.deepEqual([shown.status, shown.body], [400, { message: { base: [text] } }]);
  assert.deepEqual((await as('maintainer').put(`${path}/PASSWORD`, { value: 'no' })).body, {
    message: { value: ['is invalid'] },
  });
  assert.equal((await as('maintainer').put(`${path}/PASSWORD`, { value: 'battery-staple' })).body.value, null);
});

test('an existing value can be masked only if it qualifies', async () => {
  const { as, project } = await world({});
  const path = `/projects/${project.id}/variables`;
  await as('maintainer').post(path, { key: 'TOKEN', value: 'a b' });
  assert.deepEqual((await as('maintainer').put(`${path}/TOKEN`, { masked: true })).body, {
    message: { value: ['is invalid'] },
  });
  const masked = await as('maintainer').put(`${path}/TOKEN`, { masked: true, value: 'long-enough' });
  assert.deepEqual([masked.body.masked, masked.body.value], [true, 'long-enough']);
});

test('values are encrypted in the database', async () => {
  const { as, project, db } = await world({});
  await as('maintainer').post(`/projects/${project.id}/variables`, { key: 'SECRET', value: 'open sesame' });
  const row = await db
    .selectFrom('variables')
    .select('value')
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow();
  assert.ok(!row.value.toString('latin1').includes('sesame'));
});

test('a value that cannot be decrypted is null until it is set again', async () => {
  const { as, project, db } = await world({});
  const url = `/projects/${project.id}/variables`;
  await as('owner').post(url, { key: 'TOKEN', value: 'masked later' });
  await db
    .updateTable('variables')
    .set({ value: Buffer.alloc(60) })
    .where('project_id', '=', project.id)
    .execute();
  assert.deepEqual(
    (await as('owner').get(url)).body.map(({ value }: { value: unknown }) => value),
    [null],
  );
  const masked = await as('owner').put(`${url}/TOKEN`, { masked: true });
  assert.deepEqual([masked.status, masked.body], [400, { message: { value: ['is invalid'] } }]);
  const set = await as('owner').put(`${url}/TOKEN`, { masked: true, value: 'masked_now' });
  assert.deepEqual([set.status, set.body.value], [200, 'masked_now']);
});

test('variables are deleted with their project, and those of other projects are not found', async () => {
  const { as, project, group, db } = await world({});
  await as('owner').post(`/groups/${group.id}/variables`, { key: 'SHARED', value: 'x' });
  const path = `/projects/${project.id}/variables`;
  assert.equal((await as('maintainer').get(`${path}/SHARED`)).status, 404);
  assert.equal((await as('outsider').get(path)).status, 404);
  await as('maintainer').post(path, { key: 'OWN', value: 'x' });
  await db.deleteFrom('projects').where('id', '=', project.id).execute();
  assert.equal(
    (await db.selectFrom('variables').select('id').where('project_id', '=', project.id).execute()).length,
    0,
  );
});

test('a guest whose role has admin_cicd_variables manages variables', async () => {
  const here = await world({});
  const { client } = await personWith(here, `/groups/${here.group.id}`, ['admin_cicd_variables']);
  for (const path of [`/projects/${here.project.id}/variables`, `/groups/${here.group.id}/variables`])
    assert.equal((await client.post(path, { key: 'A', value: 'x' })).status, 201);
  assert.equal((await client.get('/admin/ci/variables')).status, 403);
});
