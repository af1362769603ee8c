import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as client from 'openid-client';
import { anonymousBrowser, browserOf, password } from '../../../../test/support/browser.ts';
import { clientOf } from '../../../../test/support/client.ts';
import {
  agree,
  callback,
  codeFor,
  exchangeOf,
  leadsTo,
  newApplication,
  oauthOf,
  queryOf,
  relyingParty,
} from '../../../../test/support/oauth.ts';
import { world } from '../../../../test/support/world.ts';

const pathIn = (url: URL) => url.pathname + url.search;

test('a program of others signs a person in, as the library of OpenID Connect does it', async () => {
  const here = await world();
  const application = await newApplication(here);
  const configuration = await relyingParty(here, application.application_id, application.secret);
  const browser = await browserOf(here, here.people.developer);
  const [state, nonce, pkceCodeVerifier] = [
    client.randomState(),
    client.randomNonce(),
    client.randomPKCECodeVerifier(),
  ];
  const begins = client.buildAuthorizationUrl(configuration, {
    ...{ redirect_uri: callback, scope: 'openid profile email read_user', state, nonce, max_age: '3600' },
    ...{ code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier), code_challenge_method: 'S256' },
  });
  const asked = await browser.get(pathIn(begins));
  assert.equal(asked.status, 200);
  for (const text of ['Orchard map', 'Read your email address', callback, `@${here.people.developer.username}`])
    assert.ok(asked.html.includes(text), text);
  assert.match(asked.headers.get('content-security-policy')!, /form-action 'self' https:\/\/map\.example\.com;/);
  assert.match(asked.headers.get('content-security-policy')!, /frame-ancestors 'none'/);
  const back = await agree(browser, begins.search.slice(1), here.people.developer.id);
  assert.equal(back.href.split('?')[0], callback);
  const tokens = await client.authorizationCodeGrant(configuration, back, {
    ...{ pkceCodeVerifier, expectedState: state, expectedNonce: nonce, maxAge: 3600, idTokenExpected: true },
  });
  const claims = tokens.claims()!;
  const sub = String(here.people.developer.id);
  const { email } = (await here.as('developer').get('/user')).body;
  assert.deepEqual(
    [claims.iss, claims.aud, claims.sub, claims.email, claims.email_verified, claims.amr, claims.exp - claims.iat],
    [here.services.url, application.application_id, sub, email, true, ['pwd'], 120],
  );
  assert.deepEqual(claims.groups_direct, [here.group.full_path]);
  const info = await client.fetchUserInfo(configuration, tokens.access_token, sub);
  assert.deepEqual(
    [info.preferred_username, info.email, info.profile],
    [here.people.developer.username, email, `${here.services.url}/${here.people.developer.username}`],
  );
  const introspected = await client.tokenIntrospection(configuration, tokens.access_token);
  assert.deepEqual(
    [introspected.active, introspected.sub, introspected.scope],
    [true, sub, 'openid profile email read_user'],
  );
  const api = clientOf(`${here.url}/api/v4`, tokens.access_token);
  assert.equal((await api.get('/user')).body.id, here.people.developer.id);
  assert.equal((await api.get('/projects')).status, 403, 'its scopes count');

  const refreshed = await client.refreshTokenGrant(configuration, tokens.refresh_token!, { scope: 'openid email' });
  assert.equal(refreshed.scope, 'openid email');
  assert.equal(refreshed.claims()!.auth_time, claims.auth_time);
  assert.equal((await api.get('/user')).status, 401, 'the former token has ended');
  await client.tokenRevocation(configuration, refreshed.refresh_token!);
  assert.equal((await client.tokenIntrospection(configuration, refreshed.access_token)).active, false);

  const again = leadsTo(await browser.get(pathIn(begins)))!;
  assert.ok(again.searchParams.get('code'), 'nobody is asked again');
});

test('a program that keeps no secret proves that it has asked', async () => {
  const here = await world();
  const own = { redirect_uri: 'http://localhost/cb', confidential: false, scopes: 'openid api' };
  const application = await newApplication(here, own);
  const browser = await browserOf(here, here.people.reporter);
  const here_id = here.people.reporter.id;
  const redirect_uri = 'http://localhost:7171/cb';
  const configuration = await relyingParty(here, application.application_id);
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const begins = client.buildAuthorizationUrl(configuration, {
    ...{ redirect_uri, scope: 'openid api', state: 'a', code_challenge_method: 'S256' },
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  });
  const back = await agree(browser, begins.search.slice(1), here_id);
  assert.equal(back.origin, 'http://localhost:7171');
  const tokens = await client.authorizationCodeGrant(configuration, back, { pkceCodeVerifier, expectedState: 'a' });
  assert.equal((await clientOf(`${here.url}/api/v4`, tokens.access_token).get('/projects')).status, 200);
  for (const change of [
    { code_challenge: undefined, code_challenge_method: undefined },
    { code_challenge_method: 'plain' },
    { code_challenge_method: undefined },
    { code_challenge: 'short' },
  ]) {
    const answer = leadsTo(await browser.get(`/oauth/authorize?${queryOf(application, { ...change, redirect_uri })}`))!;
    assert.equal(answer.searchParams.get('error'), 'invalid_request', JSON.stringify(change));
  }
});

test('an error goes back to the application with its state and the issuer, and nobody is sent to an unknown address', async () => {
  const here = await world();
  const application = await newApplication(here);
  const browser = await browserOf(here, here.people.guest);
  const answer = async (change: Record<string, string | undefined>) => {
    const reply = await browser.get(`/oauth/authorize?${queryOf(application, change)}`);
    return { status: reply.status, to: leadsTo(reply) };
  };
  const cases: [Record<string, string | undefined>, string][] = [
    [{ response_type: undefined }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_type: 'id_token' }, 'unsupported_response_type'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ scope: 'openid sudo' }, 'invalid_scope'],
    [{ scope: 'everything' }, 'invalid_scope'],
    [{ nonce: 'a'.repeat(1001) }, 'invalid_request'],
    [{ nonce: 'a\0' }, 'invalid_request'],
    [{ prompt: 'none login' }, 'invalid_request'],
    [{ prompt: 'none' }, 'consent_required'],
    [{ max_age: '-1' }, 'invalid_request'],
    [{ request: 'eyJ' }, 'request_not_supported'],
    [{ request_uri: 'https://map.example.com/r' }, 'request_uri_not_supported'],
  ];
  for (const [change, error] of cases) {
    const { to } = await answer(change);
    assert.equal(to?.href.split('?')[0], callback, JSON.stringify(change));
    const { searchParams } = to!;
    assert.deepEqual(
      [searchParams.get('error'), searchParams.get('state'), searchParams.get('iss'), searchParams.get('code')],
      [error, 'st&te', here.services.url, null],
    );
  }
  for (const change of [
    { client_id: undefined },
    { client_id: 'unknown' },
    { client_id: 'a'.repeat(64) },
    { client_id: '\0' },
    { redirect_uri: undefined },
    { redirect_uri: 'https://evil.example.com/callback' },
    { redirect_uri: `${callback}/` },
    { redirect_uri: `${callback}?a=1` },
    { redirect_uri: 'https://map.example.com/callback\0' },
    { redirect_uri: 'https://map.example.com@evil.example.com/callback' },
    { redirect_uri: '//map.example.com/callback' },
    { redirect_uri: 'javascript:alert(1)' },
  ]) {
    const { status, to } = await answer(change);
    assert.deepEqual([status, to], [400, undefined], JSON.stringify(change));
  }
  const repeated = await browser.get(`/oauth/authorize?${queryOf(application)}&redirect_uri=https://evil.example.com`);
  assert.deepEqual([repeated.status, leadsTo(repeated)], [400, undefined]);
  const twice = leadsTo(await browser.get(`/oauth/authorize?${queryOf(application)}&scope=api`))!;
  assert.equal(twice.searchParams.get('error'), 'invalid_request');
  const denied = await agree(browser, queryOf(application), here.people.guest.id, 'deny');
  assert.equal(denied.searchParams.get('error'), 'access_denied');
  const form = await browser.send(
    `/oauth/authorize?${queryOf(application, { redirect_uri: 'https://evil.example.com' })}`,
    'authorize',
    { user_id: String(here.people.guest.id) },
  );
  assert.deepEqual([form.status, leadsTo(form)], [400, undefined]);
});

test('who is not signed in signs in first, and again when the application wants it', async () => {
  const here = await world();
  const application = await newApplication(here);
  const { guest } = here.people;
  const stranger = anonymousBrowser(here.url);
  const quiet = leadsTo(await stranger.get(`/oauth/authorize?${queryOf(application, { prompt: 'none' })}`))!;
  assert.equal(quiet.searchParams.get('error'), 'login_required');
  await browserOf(here, guest);
  const signIn = async (path: string) => {
    const asked = await stranger.get(path);
    assert.equal(asked.status, 302);
    const to = new URL(asked.to!, here.url).searchParams.get('to')!;
    const done = await stranger.send('/users/sign_in', 'sign_in', { login: guest.username, password, to });
    assert.equal(done.to, to);
    return stranger.get(done.to!, { 'sec-fetch-site': 'same-origin' });
  };
  assert.equal((await signIn(`/oauth/authorize?${queryOf(application)}`)).status, 200);
  await agree(stranger, queryOf(application), guest.id);
  const direct = await stranger.get(`/oauth/authorize?${queryOf(application)}`, { 'sec-fetch-site': 'cross-site' });
  assert.ok(leadsTo(direct)!.searchParams.get('code'));
  for (const change of [{ prompt: 'login' }, { max_age: '0' }, { prompt: 'select_account' }]) {
    const path = `/oauth/authorize?${queryOf(application, change)}`;
    await here.db
      .updateTable('web_sessions')
      .set({ authenticated_at: new Date(Date.now() - 120_000).toISOString() })
      .where('user_id', '=', guest.id)
      .execute();
    const shown = await signIn(path);
    assert.equal(shown.status, 200, 'a page leads on, since a browser does not follow a redirect after a form');
    assert.match(shown.headers.get('refresh')!, /^0; url=https:\/\/map\.example\.com\/callback\?code=/);
  }
});

test('a form of another site, and one that was shown to somebody else, authorize nothing', async () => {
  const here = await world();
  const application = await newApplication(here);
  const browser = await browserOf(here, here.people.guest);
  const path = `/oauth/authorize?${queryOf(application)}`;
  const foreign = await fetch(here.url + path, {
    ...{ method: 'POST', body: new URLSearchParams({ _do: 'authorize', user_id: String(here.people.guest.id) }) },
    ...{ redirect: 'manual', headers: { accept: 'text/html', origin: 'https://map.example.com' } },
  });
  assert.equal(foreign.status, 403);
  const other = await browser.send(path, 'authorize', { user_id: String(here.people.owner.id) });
  assert.deepEqual([other.status, leadsTo(other)], [422, undefined]);
  const stranger = await anonymousBrowser(here.url).send(path, 'authorize', { user_id: '1' });
  assert.equal(stranger.status, 401);
  const codes = here.db.selectFrom('oauth_codes').select('id').where('application_id', '=', application.id);
  assert.deepEqual(await codes.execute(), []);
});

test('nobody is asked for what is trusted', async () => {
  const here = await world();
  const application = await newApplication(here, { trusted: true });
  const browser = await browserOf(here, here.people.guest);
  const to = leadsTo(await browser.get(`/oauth/authorize?${queryOf(application, { prompt: 'none' })}`))!;
  const code = to.searchParams.get('code')!;
  assert.equal((await oauthOf(here).post('/token', exchangeOf(application, code))).status, 200);
  const asked = await browser.get(`/oauth/authorize?${queryOf(application, { prompt: 'consent' })}`);
  assert.equal(asked.status, 200);
});

test('more is asked for again', async () => {
  const here = await world();
  const application = await newApplication(here);
  const browser = await browserOf(here, here.people.guest);
  await codeFor(browser, queryOf(application, { scope: 'openid' }), here.people.guest.id);
  assert.equal((await browser.get(`/oauth/authorize?${queryOf(application, { scope: 'openid email' })}`)).status, 200);
  await codeFor(browser, queryOf(application, { scope: 'email' }), here.people.guest.id);
  assert.ok(leadsTo(await browser.get(`/oauth/authorize?${queryOf(application, { scope: 'openid email' })}`)));
  const plain = await browser.get(`/oauth/authorize?${queryOf(application, { scope: undefined })}`);
  assert.ok(plain.html.includes('Do everything that you can do'), 'without a scope, the API is meant');
});
