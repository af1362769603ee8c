import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Browser, browserOf, password } from '../../../../test/support/browser.ts';
import { clientOf } from '../../../../test/support/client.ts';
import {
  codeFor,
  exchangeOf,
  newApplication,
  oauthOf,
  queryOf,
  type TestApplication,
} from '../../../../test/support/oauth.ts';
import { type World, world } from '../../../../test/support/world.ts';

interface Scene extends World {
  application: TestApplication;
  browser: Browser;
  /** A code for the developer. */
  code(change?: Record<string, string | undefined>): Promise<string>;
  token(given: Record<string, unknown>, headers?: Record<string, string>): Promise<{ status: number; body: Answer }>;
  user(token: string): Promise<number>;
}

// biome-ignore lint/suspicious/noExplicitAny: answers have different members.
type Answer = any;

async function scene(): Promise<Scene> {
  const here = await world();
  const application = await newApplication(here);
  const browser = await browserOf(here, here.people.developer);
  return {
    ...here,
    ...{ application, browser },
    code: (change) => codeFor(browser, queryOf(application, change), here.people.developer.id),
    token: (given, headers = {}) => oauthOf(here).post('/token', given, { headers }),
    user: async (token) => (await clientOf(`${here.url}/api/v4`, token).get('/user')).status,
  };
}

const failed = ({ status, body }: { status: number; body: Answer }) => [status, body.error];

test('a code counts once, and its second use ends what it gave', async () => {
  const { application, code, token, user } = await scene();
  const exchange = exchangeOf(application, await code({ scope: 'api' }));
  const first = await token(exchange);
  assert.equal(first.status, 200);
  assert.equal(first.body.id_token, undefined, 'only with openid');
  const refreshed = await token({
    ...{ grant_type: 'refresh_token', refresh_token: first.body.refresh_token },
    ...{ client_id: application.application_id, client_secret: application.secret },
  });
  assert.equal(await user(refreshed.body.access_token), 200);
  assert.deepEqual(failed(await token(exchange)), [400, 'invalid_grant']);
  assert.equal(await user(refreshed.body.access_token), 401, 'also what replaced it');
});

test('of two exchanges of one code at once, one is refused, and no token survives', async () => {
  const { application, code, token, user, db } = await scene();
  for (let round = 0; round < 5; round++) {
    const exchange = exchangeOf(application, await code({ scope: 'api' }));
    const answers = await Promise.all([1, 2, 3].map(() => token(exchange)));
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 400, 400]);
    assert.equal(await user(answers.find(({ status }) => status === 200)!.body.access_token), 401);
  }
  const left = db
    .selectFrom('oauth_tokens')
    .select('id')
    .where('application_id', '=', application.id)
    .where('revoked', '=', false);
  assert.deepEqual(await left.execute(), []);
});

test('a code is for its application, its address and its verifier', async () => {
  const here = await scene();
  const { application, code, token, db } = here;
  const other = await newApplication(here);
  const given = exchangeOf(application, await code());
  const theirs = { client_id: other.application_id, client_secret: other.secret };
  for (const change of [
    theirs,
    { redirect_uri: 'https://map.example.com/other' },
    { redirect_uri: undefined },
    { code_verifier: undefined },
    { code_verifier: 'another-verifier-that-is-long-enough-to-be-a-verifier' },
    { code_verifier: 'short' },
    { code: 'unknown' },
    { code: undefined },
    { code: 'a\0' },
    { code: ['a', 'b'] },
  ])
    assert.deepEqual(failed(await token({ ...given, ...change })), [400, 'invalid_grant'], JSON.stringify(change));
  for (const change of [
    { client_secret: 'wrong' },
    { client_secret: undefined },
    { client_id: undefined },
    { client_id: 'unknown', client_secret: undefined },
    { client_id: undefined, client_secret: undefined },
  ])
    assert.deepEqual(failed(await token({ ...given, ...change })), [401, 'invalid_client'], JSON.stringify(change));
  assert.equal((await token(given)).status, 200, 'none of which has used it up');

  const late = exchangeOf(application, await code());
  await db
    .updateTable('oauth_codes')
    .set({ created_at: new Date(Date.now() - 601_000).toISOString() })
    .where('application_id', '=', application.id)
    .execute();
  assert.deepEqual(failed(await token(late)), [400, 'invalid_grant']);
  const unproved = exchangeOf(application, await code({ code_challenge: undefined, code_challenge_method: undefined }));
  assert.deepEqual(failed(await token(unproved)), [400, 'invalid_grant'], 'the challenge was taken out on the way');
  assert.equal((await token({ ...unproved, code_verifier: undefined })).status, 200);
});

test('an application shows its secret in one way', async () => {
  const { application, code, token } = await scene();
  const { client_id, client_secret, ...given } = exchangeOf(application, await code());
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
  });
  const header = basic(client_id, client_secret);
  assert.deepEqual(failed(await token({ ...given, client_secret }, header)), [400, 'invalid_request']);
  assert.deepEqual(failed(await token({ ...given, client_id: 'other' }, header)), [400, 'invalid_request']);
  assert.deepEqual(failed(await token(given, basic(client_id, 'wrong'))), [401, 'invalid_client']);
  const { status, body } = await token({ ...given, client_id }, header);
  assert.equal(status, 200);
  assert.deepEqual([body.token_type, body.expires_in, body.scope], ['Bearer', 7200, 'openid']);
});

test('a refresh token that comes again has been stolen, unless its answer was lost', async () => {
  const { application, code, token, user, db } = await scene();
  const own = { client_id: application.application_id, client_secret: application.secret };
  const refresh = (refresh_token: string, more = {}) =>
    token({ grant_type: 'refresh_token', refresh_token, ...own, ...more });
  const first = (await token(exchangeOf(application, await code({ scope: 'api read_user' })))).body;
  assert.deepEqual(failed(await refresh(first.refresh_token, { scope: 'api sudo' })), [400, 'invalid_scope']);
  assert.deepEqual(failed(await refresh(first.refresh_token, { client_secret: 'x' })), [401, 'invalid_client']);
  assert.deepEqual(
    failed(await refresh(first.refresh_token, { client_id: undefined, client_secret: undefined })),
    [400, 'invalid_grant'],
    'a token of an application needs it',
  );
  const second = (await refresh(first.refresh_token, { scope: 'read_user' })).body;
  assert.equal(second.scope, 'read_user');
  assert.deepEqual(failed(await refresh(first.refresh_token)), [400, 'invalid_grant']);
  assert.equal(await user(second.access_token), 200, 'a repetition at once ends nothing');
  assert.deepEqual(failed(await refresh(first.refresh_token)), [400, 'invalid_grant']);
  assert.equal(await user(second.access_token), 401, 'but once the successor was used, it does');

  const third = (await token(exchangeOf(application, await code({ scope: 'api' })))).body;
  const fourth = (await refresh(third.refresh_token)).body;
  await db
    .updateTable('oauth_tokens')
    .set({ rotated_at: new Date(Date.now() - 11_000).toISOString() })
    .where('rotated_at', 'is not', null)
    .where('application_id', '=', application.id)
    .execute();
  assert.deepEqual(failed(await refresh(third.refresh_token)), [400, 'invalid_grant']);
  assert.equal(await user(fourth.access_token), 401);
  assert.deepEqual(failed(await refresh(fourth.refresh_token)), [400, 'invalid_grant']);
});

test('of refreshes at once with the family ended meanwhile, no token survives', async () => {
  const { application, code, token, db } = await scene();
  const own = { client_id: application.application_id, client_secret: application.secret };
  for (let round = 0; round < 5; round++) {
    const exchange = exchangeOf(application, await code({ scope: 'api' }));
    const { refresh_token } = (await token(exchange)).body;
    const refresh = () => token({ grant_type: 'refresh_token', refresh_token, ...own });
    await Promise.all([refresh(), token(exchange), refresh()]);
    const left = db
      .selectFrom('oauth_tokens')
      .select('id')
      .where('application_id', '=', application.id)
      .where('revoked', '=', false);
    assert.deepEqual(await left.execute(), []);
  }
});

test('tokens end with the account and with the application', async () => {
  const here = await scene();
  const { application, code, token, user, as, db, people } = here;
  const own = { client_id: application.application_id, client_secret: application.secret };
  const waiting = exchangeOf(application, await code({ scope: 'api' }));
  const given = (await token(exchangeOf(application, await code({ scope: 'api' })))).body;
  const refresh = { grant_type: 'refresh_token', refresh_token: given.refresh_token, ...own };
  await db.updateTable('users').set({ state: 'blocked' }).where('id', '=', people.developer.id).execute();
  assert.equal(await user(given.access_token), 403);
  assert.deepEqual(failed(await token(refresh)), [400, 'invalid_grant']);
  assert.deepEqual(failed(await token(waiting)), [400, 'invalid_grant']);
  await db.updateTable('users').set({ state: 'active' }).where('id', '=', people.developer.id).execute();
  assert.equal(await user(given.access_token), 200);
  assert.equal((await as('admin').delete(`/applications/${application.id}`)).status, 204);
  assert.equal(await user(given.access_token), 401);
  assert.deepEqual(failed(await token(waiting)), [401, 'invalid_client']);
});

test('a token is told of to its application, and ended by it', async () => {
  const here = await scene();
  const { application, code, token, people, services } = here;
  const given = (await token(exchangeOf(application, await code({ scope: 'api' })))).body;
  const own = { client_id: application.application_id, client_secret: application.secret };
  const other = await newApplication(here);
  const theirs = { client_id: other.application_id, client_secret: other.secret };
  const open = await newApplication(here, { confidential: false });
  const introspect = (of: object, value: string) => oauthOf(here).post('/introspect', { token: value, ...of });
  const { exp, iat, ...about } = (await introspect(own, given.access_token)).body;
  assert.deepEqual(about, {
    ...{ active: true, scope: 'api', client_id: application.application_id, token_type: 'Bearer' },
    ...{ username: people.developer.username, sub: String(people.developer.id), iss: services.url },
  });
  assert.equal(exp - iat, 7200);
  assert.equal((await introspect(own, given.refresh_token)).body.active, true);
  for (const value of ['unknown', '', people.developer.token])
    assert.deepEqual((await introspect(own, value)).body, { active: false });
  assert.deepEqual((await introspect(theirs, given.access_token)).body, { active: false });
  for (const asker of [{}, { client_id: application.application_id }, { client_id: open.application_id }]) {
    const { status, body, headers } = await introspect(asker, given.access_token);
    assert.deepEqual([status, body.error, headers.has('www-authenticate')], [401, 'invalid_client', true]);
  }
  const info = await clientOf(`${here.url}/oauth`, given.access_token).get('/token/info');
  assert.deepEqual(info.body.application, { uid: application.application_id });

  const revoke = (of: object, value: string) => oauthOf(here).post('/revoke', { token: value, ...of });
  for (const asker of [{}, theirs, { client_id: open.application_id }])
    assert.deepEqual(failed(await revoke(asker, given.access_token)), [403, 'unauthorized_client']);
  assert.deepEqual(failed(await revoke({ ...own, client_secret: 'x' }, given.access_token)), [401, 'invalid_client']);
  assert.equal((await introspect(own, given.access_token)).body.active, true);
  assert.deepEqual((await revoke(own, given.refresh_token)).body, {});
  assert.deepEqual((await introspect(own, given.access_token)).body, { active: false });
});

test('who a person is, is told to a token that may know it', async () => {
  const here = await scene();
  const { application, code, token, people, group, url } = here;
  const info = async (access_token: string, method = 'GET') => {
    const reply = await fetch(`${url}/oauth/userinfo`, {
      ...{ method, headers: { authorization: `Bearer ${access_token}`, origin: 'https://map.example.com' } },
    });
    return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Answer };
  };
  const given = (await token(exchangeOf(application, await code({ scope: 'openid' })))).body;
  const { status, body, headers } = await info(given.access_token);
  assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, '*']);
  const groups = [group.full_path];
  const role = { 'https://gitlab.org/claims/groups/developer': groups };
  assert.deepEqual(body, { sub: String(people.developer.id), groups, groups_direct: groups, ...role });
  const more = (await token(exchangeOf(application, await code({ scope: 'openid profile email' })))).body;
  const sub = await here.as('owner').post('/groups', { name: 'sub', path: 'sub', parent_id: group.id });
  const all = (await info(more.access_token, 'POST')).body;
  assert.deepEqual(
    [all.groups, all.groups_direct, all['https://gitlab.org/claims/groups/developer'], all.preferred_username],
    [
      [group.full_path, sub.body.full_path],
      [group.full_path],
      [group.full_path, sub.body.full_path],
      people.developer.username,
    ],
  );
  assert.equal(all['https://gitlab.org/claims/groups/owner'], undefined);
  const api = (await token(exchangeOf(application, await code({ scope: 'api' })))).body;
  for (const value of [api.access_token, people.developer.token, 'unknown'])
    assert.equal((await info(value)).status, 401);
  const none = await fetch(`${url}/oauth/userinfo`);
  assert.equal(none.status, 401);
  assert.match(none.headers.get('www-authenticate')!, /^Bearer /);
});

test('a password is taken from an application that keeps its secret', async () => {
  const here = await scene();
  const { application, token, people } = here;
  const grant = { grant_type: 'password', username: people.developer.username, password };
  const own = { client_id: application.application_id, client_secret: application.secret };
  const { status, body } = await token({ ...grant, ...own, scope: 'read_user openid' });
  assert.deepEqual([status, body.scope, typeof body.id_token], [200, 'read_user openid', 'string']);
  assert.deepEqual(failed(await token({ ...grant, ...own, scope: 'sudo' })), [400, 'invalid_scope']);
  assert.deepEqual(failed(await token({ ...grant, ...own, client_secret: 'x' })), [401, 'invalid_client']);
  assert.deepEqual(failed(await token({ ...grant, client_id: 'x', client_secret: 'x' })), [401, 'invalid_client']);
  const unknown = await token({ ...grant, client_id: 'a program of before' });
  assert.deepEqual([unknown.status, unknown.body.scope], [200, 'api']);
  const again = { grant_type: 'refresh_token', refresh_token: unknown.body.refresh_token, client_id: 'of before' };
  assert.equal((await token(again)).status, 200);
  const open = await newApplication(here, { confidential: false });
  assert.deepEqual(failed(await token({ ...grant, client_id: open.application_id })), [400, 'unauthorized_client']);
  assert.deepEqual(failed(await token({ grant_type: 'client_credentials', ...own })), [400, 'unsupported_grant_type']);
});

test('the server says what it does, to scripts too', async () => {
  const { url, services } = await world();
  for (const name of ['openid-configuration', 'oauth-authorization-server']) {
    const reply = await fetch(`${url}/.well-known/${name}`, { headers: { origin: 'https://map.example.com' } });
    assert.equal(reply.headers.get('access-control-allow-origin'), '*');
    const told = (await reply.json()) as Answer;
    assert.deepEqual(
      [told.issuer, told.token_endpoint, told.code_challenge_methods_supported, told.response_types_supported],
      [services.url, `${services.url}/oauth/token`, ['S256'], ['code']],
    );
    assert.equal(told.authorization_response_iss_parameter_supported, true);
    assert.equal(told.registration_endpoint, undefined);
  }
  const preflight = await fetch(`${url}/oauth/token`, {
    method: 'OPTIONS',
    headers: { origin: 'https://map.example.com', 'access-control-request-method': 'POST' },
  });
  assert.equal(preflight.headers.get('access-control-allow-origin'), '*');
});
