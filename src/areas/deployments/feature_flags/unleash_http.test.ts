import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sent } from '../../../../test/support/sent.ts';
import { type World, world } from '../../../../test/support/world.ts';

interface Application {
  here: World;
  /** Below the API. */
  flags: string;
  instance_id: string;
  /** Asks as an SDK does. */
  ask(path?: string, headers?: Record<string, string>, more?: RequestInit): Promise<Response>;
  /** The features in an environment. */
  features(environment?: string): Promise<{ name: string; enabled: boolean; strategies: unknown[] }[]>;
}

async function application(): Promise<Application> {
  const here = await world({});
  const client = await sent(here.as('maintainer').get(`/projects/${here.project.id}/feature_flags_client`));
  const { unleash_url, instance_id } = client;
  assert.equal(unleash_url, `http://coppice.test/api/v4/feature_flags/unleash/${here.project.id}`);
  const base = unleash_url.replace('http://coppice.test', here.url);
  const ask: Application['ask'] = (
    path = '/client/features',
    headers = { 'unleash-instanceid': instance_id },
    more = {},
  ) => fetch(`${base}${path}`, { headers, ...more });
  return {
    here,
    flags: `/projects/${here.project.id}/feature_flags`,
    instance_id,
    ask,
    async features(environment) {
      const reply = await ask(undefined, {
        'UNLEASH-INSTANCEID': instance_id,
        ...(environment === undefined ? {} : { 'UNLEASH-APPNAME': environment }),
      });
      assert.equal(reply.status, 200);
      const body = (await reply.json()) as { version: number; features: Awaited<ReturnType<Application['features']>> };
      assert.equal(body.version, 1);
      return body.features;
    },
  };
}

const everyone = { name: 'default', parameters: {} };

test('an environment gets the flags that have a strategy for it, with these strategies only', async () => {
  const { here, flags, features } = await application();
  const developer = here.as('developer');
  const list = await sent(
    developer.post(`/projects/${here.project.id}/feature_flags_user_lists`, { name: 'All', user_xids: 'rowan,hazel' }),
  );
  const ids = { name: 'userWithId', parameters: { userIds: 'ash' } };
  const named = (name: string, strategies: object[], more: object = {}) =>
    sent(developer.post(flags, { name, strategies, ...more }));
  const inScopes = (strategy: object, ...names: string[]) => ({
    ...strategy,
    scopes: names.map((environment_scope) => ({ environment_scope })),
  });
  await named('zebra', [everyone], { description: 'For all' });
  await named('review', [inScopes(everyone, 'production'), inScopes(ids, 'review/*_x', 'v$1')]);
  await named('listed', [{ name: 'gitlabUserList', parameters: {}, user_list_id: list.id }], { active: false });
  await named('nobody', []);

  const zebra = { name: 'zebra', description: 'For all', enabled: true, strategies: [everyone] };
  const listed = {
    name: 'listed',
    enabled: false,
    strategies: [{ name: 'userWithId', parameters: { userIds: 'rowan,hazel' } }],
  };
  const review = (strategy: object) => ({ name: 'review', enabled: true, strategies: [strategy] });
  assert.deepEqual(await features(), [zebra, listed]);
  assert.deepEqual(await features('production'), [zebra, review(everyone), listed]);
  assert.deepEqual(await features('review/a/b_x'), [zebra, review(ids), listed]);
  for (const other of ['review/abyx', 'v1', 'Production', '*'])
    assert.deepEqual(await features(other), [zebra, listed]);
});

test('a poll without a change returns 304, and the next one after a change returns the change', async () => {
  const { here, flags, ask, features, instance_id } = await application();
  await sent(here.as('developer').post(flags, { name: 'press', strategies: [everyone] }));
  const first = await ask();
  assert.equal(first.headers.get('cache-control'), 'max-age=0, private');
  const etag = first.headers.get('etag')!;
  const again = () => ask(undefined, { 'unleash-instanceid': instance_id, 'if-none-match': `"other", W/${etag}` });
  for (let poll = 0; poll < 3; poll++) {
    const same = await again();
    assert.deepEqual([same.status, await same.text(), same.headers.get('etag')], [304, '', etag]);
  }
  await sent(here.as('developer').put(`${flags}/press`, { active: false }));
  const changed = await again();
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.get('etag'), etag);
  await sent(here.as('developer').put(`${flags}/press`, { active: true }));
  assert.equal((await again()).status, 304, 'it is again what it was');

  const polls = Promise.all(Array.from({ length: 20 }, () => features()));
  for (const active of [false, true, false]) {
    await sent(here.as('developer').put(`${flags}/press`, { active }));
    assert.equal((await features())[0]!.enabled, active);
  }
  await polls;
  await sent(here.as('developer').delete(`${flags}/press`));
  assert.deepEqual(await features(), []);
});

test('only the instance id of the project gives access, and a reset revokes it at once', async () => {
  const { here, flags, ask, instance_id } = await application();
  await sent(here.as('developer').post(flags, { name: 'press', strategies: [everyone] }));
  const other = await application();
  const right = { 'unleash-instanceid': instance_id };
  const paths = ['', '/client/features', '/features'];
  for (const path of paths) assert.equal((await ask(path, right)).status, 200, path);
  assert.equal(await (await ask('', right)).text(), 'null');
  assert.equal((await ask(`/client/features?instance_id=${instance_id}&app_name=production`, {})).status, 200);
  const encoded = encodeURIComponent(here.project.full_path);
  assert.equal(
    (await fetch(`${here.url}/api/v4/feature_flags/unleash/${encoded}/client/features`, { headers: right })).status,
    200,
  );
  const refused = async (reply: Response) =>
    assert.deepEqual([reply.status, await reply.json()], [401, { message: '401 Unauthorized' }]);
  const wrong: Record<string, string>[] = [
    {},
    { 'unleash-instanceid': '' },
    { 'unleash-instanceid': other.instance_id },
    { 'private-token': here.people.owner.token },
  ];
  for (const headers of wrong) for (const path of paths) await refused(await ask(path, headers));
  for (const id of ['9999999', 'nobody%2Fnothing', 'a%00b'])
    await refused(await fetch(`${here.url}/api/v4/feature_flags/unleash/${id}/client/features`, { headers: right }));
  for (const path of ['/client/register', '/client/metrics'])
    await refused(await ask(path, {}, { method: 'POST', body: '{}' }));

  const reset = await sent(here.as('maintainer').post(`/projects/${here.project.id}/feature_flags_client/reset_token`));
  assert.match(reset.instance_id, /^glffct-[\w-]{27}$/);
  await refused(await ask(undefined, right));
  assert.equal((await ask(undefined, { 'unleash-instanceid': reset.instance_id })).status, 200);
  for (const level of ['feature_flags_access_level', 'repository_access_level']) {
    await sent(here.as('owner').put(`/projects/${here.project.id}`, { [level]: 'disabled' }));
    await refused(await ask(undefined, { 'unleash-instanceid': reset.instance_id }));
    await sent(here.as('owner').put(`/projects/${here.project.id}`, { [level]: 'enabled' }));
  }
});

test('registrations and metrics are accepted, and only the time and the SDK are stored', async () => {
  const { here, ask, instance_id } = await application();
  const client = `/projects/${here.project.id}/feature_flags_client`;
  const before = (await here.as('maintainer').get(client)).body;
  assert.deepEqual([before.instance_id, before.last_seen_at, before.sdk], [instance_id, null, null]);
  const post = (path: string, body: string) =>
    ask(path, { 'unleash-instanceid': instance_id }, { method: 'POST', body });
  for (const body of ['{', ''])
    assert.deepEqual(
      [(await post('/client/register', body)).status, (await here.as('maintainer').get(client)).body],
      [400, before],
    );
  assert.equal((await post('/client/metrics', JSON.stringify({ a: 'x'.repeat(256 * 1024) }))).status, 413);
  const registered = await post(
    '/client/register',
    JSON.stringify({ appName: 'a', sdkVersion: 'unleash-client-node:6' }),
  );
  assert.equal(registered.status, 200);
  const { body: seen } = await here.as('maintainer').get(client);
  assert.equal(seen.sdk, 'unleash-client-node:6');
  assert.ok(seen.last_seen_at);
  assert.equal((await post('/client/metrics', JSON.stringify({ sdkVersion: 'other', bucket: {} }))).status, 200);
  assert.deepEqual((await here.as('maintainer').get(client)).body, seen, 'a second time within the hour');
});

test('requests of a project are limited by a setting', async () => {
  const { here, ask } = await application();
  await sent(here.as('admin').put('/application/settings', { feature_flags_unleash_requests_limit: 2 }));
  const statuses = [];
  for (let poll = 0; poll < 3; poll++) statuses.push((await ask()).status);
  await sent(here.as('admin').put('/application/settings', { feature_flags_unleash_requests_limit: 0 }));
  assert.deepEqual([...statuses, (await ask()).status], [200, 200, 429, 200]);
});

test('the instance id is encrypted, and is in no other reply', async () => {
  const { here, instance_id } = await application();
  const { rows } = await sql<{ text: string }>`
    select encode(instance_id, 'escape') as text from feature_flag_clients where project_id = ${here.project.id}`.execute(
    here.db,
  );
  assert.ok(!rows[0]!.text.includes(instance_id));
  const { body } = await here.as('owner').get(`/projects/${here.project.id}`);
  assert.ok(!JSON.stringify(body).includes(instance_id));
});
