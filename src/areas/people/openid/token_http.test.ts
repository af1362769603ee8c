import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../test/support/client.ts';
import { performJob } from '../../../../test/support/jobs.ts';
import { newApplication } from '../../../../test/support/oauth.ts';
import { sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { passwordDigest } from '../../../access/index.ts';
import { deleteOldOauthTokens } from '../oauth_tokens/jobs.ts';

const password = 'correct horse battery staple';

/** A world in which the developer has a password. */
async function place(): Promise<World> {
  const here = await world({});
  const row = { password_digest: await passwordDigest(password) };
  await here.db.updateTable('users').set(row).where('id', '=', here.people.developer.id).execute();
  return here;
}

const oauth = ({ url }: World) => clientOf(`${url}/oauth`);

const grantOf = ({ people }: World) => ({ grant_type: 'password', username: people.developer.username, password });

const refused = (here: World, given: Record<string, unknown>) =>
  oauth(here)
    .post('/token', given)
    .then(({ status, body }) => [status, body.error]);

test('a person gets a token for their password and calls with it', async () => {
  const here = await place();
  const { status, body, headers } = await oauth(here).post('/token', grantOf(here));
  assert.deepEqual([status, headers.get('cache-control')], [200, 'no-store']);
  const { access_token, refresh_token, created_at, ...rest } = body;
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 7200, scope: 'api' });
  assert.ok(Math.abs(created_at - Date.now() / 1000) < 60);
  const bearer = { headers: { authorization: `Bearer ${access_token}` } };
  assert.equal((await here.as('anonymous').get('/user', {}, bearer)).body.id, here.people.developer.id);
  assert.equal((await here.as('anonymous').get('/user', { access_token })).status, 200);
  const issue = await here.as('anonymous').post(`/projects/${here.project.id}/issues`, { title: 'By OAuth' }, bearer);
  assert.equal(issue.status, 201);
  for (const method of ['get', 'delete'] as const)
    assert.equal((await here.as('anonymous')[method]('/personal_access_tokens/self', {}, bearer)).status, 400);
  assert.equal((await here.as('anonymous').get('/user', { access_token: refresh_token })).status, 401);
  const { body: group } = await here
    .as('anonymous')
    .post('/groups', { name: 'OAuth', path: `oauth-${here.people.developer.id}` }, bearer);
  const member = { user_id: here.people.guest.id, access_level: 10 };
  assert.equal((await here.as('anonymous').post(`/groups/${group.id}/members`, member, bearer)).status, 201);

  const { body: token } = await clientOf(`${here.url}/oauth`, access_token).get('/token/info');
  const { expires_in, ...described } = token;
  assert.deepEqual(described, {
    resource_owner_id: here.people.developer.id,
    scope: ['api'],
    application: { uid: null },
    created_at,
  });
  assert.ok(expires_in > 7100 && expires_in <= 7200);
});

test('a form works as JSON does', async () => {
  const here = await place();
  const answer = await fetch(`${here.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(grantOf(here)) });
  assert.equal(answer.status, 200);
});

test('invalid requests are refused in the form of OAuth, and a blocked user who signs in triggers system hooks', async (t) => {
  const here = await place();
  const grant = grantOf(here);
  const rows = async () => (await here.db.selectFrom('oauth_tokens').select('id').execute()).length;
  const before = await rows();
  assert.deepEqual(await refused(here, { ...grant, password: 'wrong' }), [400, 'invalid_grant']);
  assert.deepEqual(await refused(here, { ...grant, username: 'unknown-person' }), [400, 'invalid_grant']);
  assert.deepEqual(await refused(here, { ...grant, username: here.people.guest.username }), [400, 'invalid_grant']);
  assert.deepEqual(await refused(here, { grant_type: 'password' }), [400, 'invalid_grant']);
  assert.deepEqual(await refused(here, { grant_type: 'refresh_token', refresh_token: 'x' }), [400, 'invalid_grant']);
  assert.deepEqual(await refused(here, { grant_type: 'implicit' }), [400, 'unsupported_grant_type']);
  assert.deepEqual(await refused(here, {}), [400, 'invalid_request']);
  await here.db.updateTable('users').set({ state: 'blocked' }).where('id', '=', here.people.developer.id).execute();
  const receiver = await startReceiver();
  t.after(() => receiver.stop());
  await here.as('admin').post('/hooks', { url: receiver.url, push_events: false });
  assert.deepEqual(await refused(here, { ...grant, password: 'wrong' }), [400, 'invalid_grant']);
  assert.deepEqual(await refused(here, grant), [400, 'invalid_grant']);
  assert.equal(await rows(), before);
  await sendHooks(here);
  const received = receiver.take().map(({ body: { event_name, user_id, state } }) => [event_name, user_id, state]);
  assert.deepEqual(
    received,
    [['user_failed_login', here.people.developer.id, 'blocked']],
    'and a wrong password is not told',
  );
});

test('passwords cannot be guessed without limit', async () => {
  const here = await place();
  const grant = grantOf(here);
  for (let guess = 0; guess < 10; guess++) await oauth(here).post('/token', { ...grant, password: `guess ${guess}` });
  const stopped = await oauth(here).post('/token', grant);
  assert.equal(stopped.status, 429);
  assert.ok(stopped.headers.get('retry-after'));
});

test('a refresh token gives one new token and ends the old one', async () => {
  const here = await place();
  const first = (await oauth(here).post('/token', grantOf(here))).body;
  const refresh = { grant_type: 'refresh_token', refresh_token: first.refresh_token };
  const answers = await Promise.all([oauth(here).post('/token', refresh), oauth(here).post('/token', refresh)]);
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 400]);
  const second = answers.find(({ status }) => status === 200)!.body;
  assert.equal((await clientOf(`${here.url}/api/v4`, first.access_token).get('/user')).body.error, 'invalid_token');
  assert.equal((await clientOf(`${here.url}/api/v4`, second.access_token).get('/user')).status, 200);
});

test('a token that expired, was revoked, or is of a blocked person is refused', async () => {
  const here = await place();
  const give = async () => (await oauth(here).post('/token', grantOf(here))).body;
  const user = (token: string) => clientOf(`${here.url}/api/v4`, token).get('/user');
  const revoked = await give();
  assert.deepEqual((await oauth(here).post('/revoke', { token: revoked.access_token })).body, {});
  assert.equal((await user(revoked.access_token)).status, 401);
  assert.equal((await clientOf(`${here.url}/oauth`, revoked.access_token).get('/token/info')).status, 401);
  assert.deepEqual((await oauth(here).post('/revoke', { token: 'unknown' })).status, 200);
  assert.equal((await oauth(here).get('/token/info')).body.error, 'invalid_token');

  const expired = await give();
  await here.db.updateTable('oauth_tokens').set({ expires_at: '2001-01-01T00:00:00Z' }).execute();
  assert.match((await user(expired.access_token)).body.error_description, /expired/);

  const blocked = await give();
  await here.db.updateTable('users').set({ state: 'blocked' }).where('id', '=', here.people.developer.id).execute();
  assert.equal((await user(blocked.access_token)).status, 403);
});

test('tokens that can no longer be refreshed are deleted', async () => {
  const here = await place();
  const old = (await oauth(here).post('/token', grantOf(here))).body;
  await here.db.updateTable('oauth_tokens').set({ created_at: '2001-01-01T00:00:00Z' }).execute();
  assert.deepEqual(await refused(here, { grant_type: 'refresh_token', refresh_token: old.refresh_token }), [
    400,
    'invalid_grant',
  ]);
  const kept = (await oauth(here).post('/token', grantOf(here))).body;
  await performJob(here.services, deleteOldOauthTokens);
  assert.equal((await here.db.selectFrom('oauth_tokens').select('id').execute()).length, 1);
  assert.equal((await clientOf(`${here.url}/api/v4`, kept.access_token).get('/user')).status, 200);
});

test('a password gives no token without an application while the setting is off', async () => {
  const here = await place();
  const { refresh_token } = (await oauth(here).post('/token', grantOf(here))).body;
  await here.as('admin').put('/application/settings', { ropc_without_client_credentials: false });
  assert.deepEqual(await refused(here, grantOf(here)), [401, 'invalid_client']);
  assert.deepEqual(await refused(here, { ...grantOf(here), client_id: 'a program of before' }), [
    401,
    'invalid_client',
  ]);
  const refreshed = await oauth(here).post('/token', { grant_type: 'refresh_token', refresh_token });
  assert.equal(refreshed.status, 200, 'a token of before goes on');
  const { application_id, secret } = await newApplication(here);
  const own = { client_id: application_id, client_secret: secret };
  assert.equal((await oauth(here).post('/token', { ...grantOf(here), ...own })).status, 200);
});
