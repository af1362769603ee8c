import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changePlan } from '../../../../test/support/licenses.ts';
import { personWith } from '../../../../test/support/member_roles.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { flags } from './parameters.ts';

const url = 'https://hooks.example.com/coppice';

const places = ({ project, group }: World) =>
  [
    [`/projects/${project.id}/hooks`, 'maintainer', 'developer', 'project'],
    [`/groups/${group.id}/hooks`, 'owner', 'maintainer', 'group'],
    ['/hooks', 'admin', 'owner', 'instance'],
  ] as const;

test('a webhook is added, shown, changed, listed and deleted, and its secrets are never shown', async () => {
  const here = await world({});
  const signing_token = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  for (const [path, manager, other, kind] of places(here)) {
    const as = here.as(manager);
    const secrets = { token: 'open sesame', signing_token, custom_headers: [{ key: 'X-Orchard', value: 'pears' }] };
    const variables = { url_variables: [{ key: 'room', value: 'cellar' }] };
    const added = await as.post(path, {
      url: `${url}/{room}`,
      name: 'Bell',
      tag_push_events: true,
      ...secrets,
      ...variables,
    });
    assert.equal(added.status, 201, JSON.stringify(added.body));
    const { id, url: shown, name, push_events, tag_push_events, alert_status, disabled_until } = added.body;
    const isOfPlace = kind !== 'instance';
    assert.deepEqual([shown, name, push_events, tag_push_events], [`${url}/{room}`, 'Bell', isOfPlace, true]);
    assert.deepEqual([alert_status, disabled_until], ['executable', null]);
    assert.deepEqual(added.body.url_variables, [{ key: 'room' }]);
    assert.deepEqual(added.body.custom_headers, [{ key: 'X-Orchard' }]);
    assert.deepEqual([added.body.token_present, added.body.signing_token_present], [true, true]);
    for (const secret of ['sesame', 'pears', 'cellar', signing_token])
      assert.ok(!JSON.stringify(added.body).includes(secret));
    const row = await here.db.selectFrom('hooks').select('secrets').where('id', '=', id).executeTakeFirstOrThrow();
    assert.ok(!row.secrets.toString('latin1').includes('sesame'));

    const all = Object.fromEntries(Object.keys(flags[kind]).map((flag) => [flag, true]));
    const changed = await as.put(`${path}/${id}`, { ...all, description: 'Rings', token: '' });
    assert.deepEqual(changed.body, { ...added.body, ...all, description: 'Rings', token_present: false });
    assert.deepEqual((await as.get(`${path}/${id}`)).body, changed.body);
    assert.ok((await as.get(path)).body.some((each: { id: number }) => each.id === id));

    // With another address, it loses the secrets of the old one.
    const moved = await as.put(`${path}/${id}`, { url: `${url}/2` });
    assert.deepEqual([moved.body.signing_token_present, moved.body.custom_headers], [false, []]);

    for (const [persona, status] of [
      [other, 403],
      ['anonymous', 401],
    ] as const) {
      assert.equal((await here.as(persona).get(path)).status, status);
      assert.equal((await here.as(persona).post(path, { url })).status, status);
      assert.equal((await here.as(persona).put(`${path}/${id}`, { name: 'x' })).status, status);
      assert.equal((await here.as(persona).delete(`${path}/${id}`)).status, status);
    }
    assert.deepEqual((await as.get(`${path}/${id}`)).body, moved.body);
    assert.equal((await as.delete(`${path}/${id}`)).status, 204);
    const gone = await as.get(`${path}/${id}`);
    assert.deepEqual([gone.status, gone.body], [404, { message: '404 Not found' }]);
  }
});

test('a system hook receives one event for all refs of a push by default', async () => {
  const here = await world({});
  const { body } = await here.as('admin').post('/hooks', { url: 'http://hooks.example/system' });
  assert.deepEqual(
    [body.push_events, body.tag_push_events, body.merge_requests_events, body.repository_update_events],
    [false, false, false, true],
  );
  const asked = { url: 'http://hooks.example/b', push_events: true, repository_update_events: false };
  const other = (await here.as('admin').post('/hooks', asked)).body;
  assert.deepEqual([other.push_events, other.repository_update_events], [true, false]);
});

test('invalid addresses and filters are refused, and nothing is stored', async () => {
  const here = await world({});
  for (const [path, manager] of places(here).slice(0, 2)) {
    const as = here.as(manager);
    for (const refused of [
      'ftp://example.com',
      'x',
      'http://localhost/',
      'http://127.0.0.1:80',
      'http://[::1]',
      'http://10.0.0.1',
      `${url}/{room}`,
    ]) {
      const answer = await as.post(path, { url: refused });
      assert.deepEqual([answer.status, answer.body.message], [422, 'Invalid url given'], refused);
    }
    const filter = await as.post(path, { url, branch_filter_strategy: 'regex', push_events_branch_filter: '(' });
    assert.deepEqual([filter.status, filter.body.error], [422, 'Invalid branch filter given']);
    const refusals: [object, unknown][] = [
      [{ signing_token: 'whsec_short' }, { signing_token: ['is invalid'] }],
      [{ token: 'two\nlines' }, { token: ['is invalid'] }],
      [{ name: 'n'.repeat(256) }, { name: ['is too long (maximum is 255 characters)'] }],
      [{ custom_headers: [{ key: 'Content-Length', value: '0' }] }, { key: ['is reserved'] }],
      [{ branch_filter_strategy: 'some' }, 'branch_filter_strategy does not have a valid value'],
    ];
    for (const [given, message] of refusals) {
      const answer = await as.post(path, { url, ...given });
      assert.deepEqual([answer.status, answer.body.message], [400, message]);
    }
    assert.equal((await as.post(path, {})).body.message, 'url is missing');
    assert.deepEqual((await as.get(path)).body, []);
  }
});

test('URL variables and custom headers are set and removed one by one', async () => {
  const here = await world({});
  const path = `/projects/${here.project.id}/hooks`;
  const as = here.as('maintainer');
  const { id } = (await as.post(path, { url: `${url}/{room}`, url_variables: [{ key: 'room', value: 'cellar' }] }))
    .body;
  assert.equal((await as.put(`${path}/${id}/url_variables/room`, { value: 'attic' })).status, 204);
  const bad = await as.put(`${path}/${id}/custom_headers/-x`, { value: 'y' });
  assert.deepEqual([bad.status, bad.body.message], [400, { key: ['is invalid'] }]);
  assert.equal((await as.put(`${path}/${id}/custom_headers/X-One`, { value: 'y' })).status, 204);
  assert.equal((await here.as('developer').put(`${path}/${id}/custom_headers/X-Two`, { value: 'y' })).status, 403);
  assert.deepEqual((await as.get(`${path}/${id}`)).body.custom_headers, [{ key: 'X-One' }]);
  const used = await as.delete(`${path}/${id}/url_variables/room`);
  assert.deepEqual([used.status, used.body.message], [422, 'Illegal key in use']);
  assert.equal((await as.delete(`${path}/${id}/custom_headers/X-One`)).status, 204);
  assert.equal((await as.delete(`${path}/${id}/custom_headers/X-One`)).status, 404);
  const { url_variables, custom_headers } = (await as.get(`${path}/${id}`)).body;
  assert.deepEqual([url_variables, custom_headers], [[{ key: 'room' }], []]);
});

test('a project has a limited number of webhooks, and those of another are not found', async () => {
  const [here, there] = [await world({}), await world({})];
  const path = `/projects/${here.project.id}/hooks`;
  const { id } = (await here.as('maintainer').post(path, { url })).body;
  assert.equal((await there.as('maintainer').get(`/projects/${there.project.id}/hooks/${id}`)).status, 404);
  const { id: _, ...row } = await here.db
    .selectFrom('hooks')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await here.db
    .insertInto('hooks')
    .values(Array.from({ length: 98 }, () => row))
    .execute();
  const last = await Promise.all([1, 2].map(() => here.as('maintainer').post(path, { url })));
  assert.deepEqual(last.map(({ status }) => status).sort(), [201, 400]);
  assert.deepEqual(last.find(({ status }) => status === 400)?.body, {
    message: { base: ['Maximum number of project hooks (100) exceeded'] },
  });
});

test('a guest whose role has admin_web_hook manages webhooks, and those of groups need Premium', async (t) => {
  const here = await world({});
  const { client } = await personWith(here, `/groups/${here.group.id}`, ['admin_web_hook']);
  const [inProject, inGroup] = [`/projects/${here.project.id}/hooks`, `/groups/${here.group.id}/hooks`];
  for (const path of [inProject, inGroup]) assert.equal((await client.post(path, { url })).status, 201);
  assert.equal((await client.get('/hooks')).status, 403);
  t.after(() => changePlan(here, 'ultimate'));
  await changePlan(here, 'free');
  assert.equal((await here.as('maintainer').get(inProject)).body.length, 1);
  assert.equal((await here.as('owner').get(inGroup)).status, 403);
});
