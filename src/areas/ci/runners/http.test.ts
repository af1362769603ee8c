import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sent } from '../../../../test/support/sent.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { forgetSilentManagers } from './index.ts';
import { touchManager } from './manager_actions.ts';
import { runnerOf } from './queries.ts';

interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: replies of several shapes.
  body: any;
}

/** What a runner sends, without a person behind it. */
const calling =
  ({ url }: World) =>
  async (method: string, path: string, body?: object, headers: Record<string, string> = {}): Promise<Reply> => {
    const content = body && { 'content-type': 'application/json' };
    const init = { method, headers: { ...content, ...headers }, ...(body && { body: JSON.stringify(body) }) };
    const reply = await fetch(`${url}/api/v4${path}`, init);
    const text = await reply.text();
    return { status: reply.status, body: text === '' ? undefined : JSON.parse(text) };
  };

const projectToken = async ({ as, project }: World) =>
  (await sent(as('maintainer').get(`/projects/${project.id}`))).runners_token as string;

const kept = (here: World, id: number) =>
  here.db.selectFrom('runners').selectAll().where('id', '=', id).executeTakeFirst();

test('a runner registers with the token of a project, proves its token, gets another one and leaves', async () => {
  const here = await world();
  const call = calling(here);
  const made = await call('POST', '/runners', {
    token: await projectToken(here),
    ...{ description: 'Press', tag_list: 'linux, docker,linux', run_untagged: 'false', maximum_timeout: 3600 },
    ...{ locked: true, access_level: 'ref_protected', maintenance_note: 'Ask Rowan', info: { name: 'x', labels: {} } },
  });
  assert.equal(made.status, 201);
  const { id, token } = made.body;
  assert.deepEqual(made.body, { id, token, token_expires_at: null });
  assert.match(token, /^[\w-]{32}$/);
  const row = (await kept(here, id))!;
  assert.deepEqual(
    [row.runner_type, row.is_registered, row.created_by_id, row.description, row.tag_list, row.run_untagged],
    ['project_type', true, null, 'Press', ['docker', 'linux'], false],
  );
  assert.deepEqual(
    [row.maximum_timeout, row.locked, row.access_level, row.maintenance_note, row.paused, row.contacted_at],
    [3600, true, 'ref_protected', 'Ask Rowan', false, null],
  );

  const info = { version: '17.0.0', revision: 'abc', platform: 'linux', architecture: 'amd64', features: { x: true } };
  const verified = await call('POST', '/runners/verify', { token, system_id: 's_1', info });
  assert.deepEqual([verified.status, verified.body], [200, { id, token, token_expires_at: null }]);
  const managers = await here.db.selectFrom('runner_managers').selectAll().where('runner_id', '=', id).execute();
  assert.deepEqual(
    managers.map(({ system_id, version, platform, ip_address }) => [system_id, version, platform, ip_address]),
    [['s_1', '17.0.0', 'linux', '127.0.0.1']],
  );
  assert.ok((await kept(here, id))!.contacted_at);
  assert.equal((await call('POST', '/runners/verify', undefined, { 'runner-token': token })).status, 200);

  const reset = await call('POST', '/runners/reset_authentication_token', { token });
  assert.deepEqual([reset.status, Object.keys(reset.body)], [201, ['token', 'token_expires_at']]);
  const refused = await call('POST', '/runners/verify', { token });
  assert.deepEqual([refused.status, refused.body.message], [403, '403 Forbidden']);
  assert.equal((await call('DELETE', '/runners', { token })).status, 403);
  assert.equal((await call('DELETE', `/runners?token=${reset.body.token}`)).status, 204);
  assert.equal(await kept(here, id), undefined);
});

test('the registration tokens of the instance, a group and a project are for runners of these, until they are replaced', async () => {
  const here = await world({});
  const { as, group, project, db } = here;
  const call = calling(here);
  const tokens = {
    group_type: (await sent(as('owner').get(`/groups/${group.id}`))).runners_token,
    project_type: await projectToken(here),
  };
  for (const [type, token] of Object.entries(tokens)) {
    assert.match(token, /^GR1348941[\w-]{20,}$/);
    const made = await call('POST', '/runners', { token });
    assert.equal(made.status, 201);
    assert.equal((await kept(here, made.body.id))!.runner_type, type);
  }
  assert.ok(!('runners_token' in (await sent(as('developer').get(`/projects/${project.id}`)))));
  assert.ok(!('runners_token' in (await sent(as('maintainer').get(`/groups/${group.id}`)))));
  assert.ok(!('runners_token' in (await sent(as('owner').get('/projects?membership=true')))[0]));

  await db.updateTable('projects').set({ runner_registration_version: 1 }).where('id', '=', project.id).execute();
  const invalid = '403 Forbidden - invalid token supplied';
  for (const token of [
    tokens.project_type,
    'GR1348941',
    `GR1348941${'a'.repeat(43)}`,
    'x',
    tokens.group_type.slice(9),
  ]) {
    const { status, body } = await call('POST', '/runners', { token });
    assert.deepEqual([status, body.message], [403, invalid]);
  }
  assert.equal((await call('POST', '/runners', { token: await projectToken(here) })).status, 201);

  const closed = async () => {
    const { status, body } = await call('POST', '/runners', { token: await projectToken(here) });
    assert.deepEqual([status, body], [410, { message: '410 Gone - runner registration disallowed' }]);
  };
  await sent(as('owner').put(`/groups/${group.id}`, { allow_runner_registration_token: false }));
  await closed();
  await sent(as('owner').put(`/groups/${group.id}`, { allow_runner_registration_token: true }));
  await sent(as('admin').put('/application/settings', { allow_runner_registration_token: false }));
  await closed();
  await sent(as('admin').put('/application/settings', { allow_runner_registration_token: true }));
});

test('wrong values of a runner that registers are refused with the texts that runners know', async () => {
  const here = await world();
  const call = calling(here);
  const token = await projectToken(here);
  const refusal = async (body: object) => {
    const { status, body: refused } = await call('POST', '/runners', body);
    assert.equal(status, 400);
    return refused.message;
  };
  assert.equal(await refusal({ description: 'x' }), 'token is missing');
  assert.deepEqual(await refusal({ token, run_untagged: false }), {
    tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'],
  });
  assert.deepEqual(await refusal({ token, maximum_timeout: 599 }), {
    maximum_timeout: ['needs to be at least 10 minutes'],
  });
  assert.deepEqual(await refusal({ token, tag_list: Array.from({ length: 51 }, (_, i) => `t${i}`) }), {
    tags_list: ['Too many tags specified. Please limit the number of tags to 50'],
  });
  assert.deepEqual(await refusal({ token, description: 'x'.repeat(1025) }), {
    description: ['is too long (maximum is 1024 characters)'],
  });
  assert.equal(await refusal({ token, access_level: 'x' }), 'access_level does not have a valid value');
  assert.equal(await refusal({ token, active: true, paused: true }), 'active, paused are mutually exclusive');
  assert.equal(await refusal({ token, info: 7 }), 'info is invalid');
  assert.equal(await refusal({ token: ['\0'] }), 'token is invalid');
  assert.equal(await refusal({ token, maximum_timeout: 1e20 }), 'maximum_timeout is invalid');
  assert.equal(await refusal({ token, description: '\ud800' }), 'description is invalid');
});

test('tokens expire after the shortest interval of the instance, the groups and the project', async () => {
  const here = await world({});
  const { as, group, project, db } = here;
  const call = calling(here);
  await sent(as('admin').put('/application/settings', { runner_token_expiration_interval: 86_400 }));
  await sent(as('owner').put(`/groups/${group.id}`, { runner_token_expiration_interval: 7200 }));
  await sent(as('owner').put(`/projects/${project.id}`, { runner_token_expiration_interval: 36_000 }));
  const { body } = await call('POST', '/runners', { token: await projectToken(here) });
  const hours = (Date.parse(body.token_expires_at) - Date.now()) / 3_600_000;
  await sent(as('admin').put('/application/settings', { runner_token_expiration_interval: null }));
  assert.ok(hours > 1.9 && hours <= 2, String(hours));
  assert.equal((await call('POST', '/runners/verify', { token: body.token })).status, 200);
  await db.updateTable('runners').set({ token_expires_at: sql`now()` }).where('id', '=', body.id).execute();
  assert.equal((await call('POST', '/runners/verify', { token: body.token })).status, 403);
});

test('a machine is noted once a minute, forgotten on request and after a week of silence', async () => {
  const here = await world();
  const { db, services } = here;
  const call = calling(here);
  const { id, token } = (await call('POST', '/runners', { token: await projectToken(here) })).body;
  const note = async (system_id: string, version: string) =>
    touchManager(services, (await runnerOf(services, token, system_id))!, { system_id, info: { version } });
  const first = await note('s_1', '15.0');
  assert.equal(await note('s_1', '16.0'), first);
  const bare = (await runnerOf(services, token))!;
  assert.equal(bare.manager, null);
  assert.equal(await touchManager(services, bare, { system_id: 's_1', info: { version: '16.0' } }), first);
  const versions = () =>
    db
      .selectFrom('runner_managers')
      .select(['system_id', 'version'])
      .where('runner_id', '=', id)
      .orderBy('id')
      .execute();
  assert.deepEqual(await versions(), [{ system_id: 's_1', version: '15.0' }]);
  await sql`update runner_managers set contacted_at = now() - interval '2 minutes' where id = ${first}`.execute(db);
  assert.equal(await note('s_1', '16.0'), first);
  await note('s_2', '16.0');
  assert.deepEqual(await versions(), [
    { system_id: 's_1', version: '16.0' },
    { system_id: 's_2', version: '16.0' },
  ]);

  const forget = (body: object) => call('DELETE', '/runners/managers', body);
  assert.equal((await forget({ token })).body.message, 'system_id is missing');
  assert.deepEqual((await forget({ token, system_id: 's_3' })).body.message, '404 Not found');
  assert.equal((await forget({ token: 'x', system_id: 's_2' })).status, 403);
  assert.equal((await forget({ token, system_id: 'a b' })).body.message, 'system_id is invalid');
  assert.equal((await forget({ token, system_id: 's_2' })).status, 204);
  await sql`update runner_managers set contacted_at = now() - interval '8 days' where id = ${first}`.execute(db);
  await note('s_4', '16.0');
  await forgetSilentManagers.perform({}, { ...services } as never);
  assert.deepEqual(await versions(), [{ system_id: 's_4', version: '16.0' }]);
});

test('a runner has at most 1,000 machines: the one that was silent the longest makes room', async () => {
  const here = await world();
  const { db, services } = here;
  const { id, token } = (await calling(here)('POST', '/runners', { token: await projectToken(here) })).body;
  await sql`insert into runner_managers (runner_id, system_id, contacted_at)
    select ${id}, 's_' || i, now() - make_interval(secs => i) from generate_series(1, 1000) i`.execute(db);
  await touchManager(services, (await runnerOf(services, token, 'new'))!, { system_id: 'new' });
  const { rows } = await sql<{ count: number; gone: boolean; is_new: boolean }>`
    select count(*)::int as count, not bool_or(system_id = 's_1000') as gone, bool_or(system_id = 'new') as is_new
      from runner_managers where runner_id = ${id}`.execute(db);
  assert.deepEqual(rows, [{ count: 1000, gone: true, is_new: true }]);
});

test('there is no router of jobs', async () => {
  const here = await world();
  const call = calling(here);
  const { token } = (await call('POST', '/runners', { token: await projectToken(here) })).body;
  const asked = await call('GET', '/runners/router/discovery', undefined, { 'runner-token': token });
  assert.deepEqual([asked.status, asked.body], [501, { message: '501 Not Implemented' }]);
  assert.equal((await call('GET', '/runners/router/discovery', undefined, { 'runner-token': 'x' })).status, 403);
});

test('a project and a group have as many active runners as the limits of the instance allow', async () => {
  const here = await world({});
  const { as, db } = here;
  const call = calling(here);
  await sent(as('admin').put('/application/plan_limits', { plan_name: 'default', ci_registered_project_runners: 1 }));
  const token = await projectToken(here);
  const { id } = (await call('POST', '/runners', { token })).body;
  const refused = await call('POST', '/runners', { token });
  assert.deepEqual(
    [refused.status, refused.body.message],
    [400, { base: ['Maximum number of ci registered project runners (1) exceeded'] }],
  );
  await sql`update runners set created_at = now() - interval '8 days' where id = ${id}`.execute(db);
  assert.equal((await call('POST', '/runners', { token })).status, 201);
});
