import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, clientOf } from '../../test/support/client.ts';
import { type Persona, type World, world } from '../../test/support/world.ts';
import { createToken } from '../areas/people/personal_access_tokens/index.ts';
import { daysFromNow } from '../cron/index.ts';
import { callerOfToken } from './authentication.ts';

const unauthorized = { message: '401 Unauthorized' };

/** Another token of a persona, with a client that uses it. */
async function tokenOf(
  { db, people, url }: World,
  persona: Persona,
  scopes = ['api'],
  expires_at: string | null = null,
) {
  const { id, value } = await createToken(db, { user_id: people[persona].id, name: 'another', scopes, expires_at });
  return { id, value, client: clientOf(`${url}/api/v4`, value) };
}

const insufficient = (scope: string) => ({
  error: 'insufficient_scope',
  error_description: 'The request requires higher privileges than provided by the access token.',
  scope,
  message: '403 Forbidden - insufficient_scope',
});

test('a token is taken from a header, from the query and from any form of body', async () => {
  const { as, people } = await world({});
  const anonymous = as('anonymous');
  const { id, token } = people.guest;
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const multipart = new FormData();
  multipart.append('private_token', token);
  const answers = [
    await anonymous.get('/user', {}, { headers: { 'private-token': token } }),
    await anonymous.get('/user', {}, { headers: { authorization: `Bearer ${token}` } }),
    await anonymous.get('/user', {}, { headers: { authorization: `bearer  ${token} ` } }),
    await anonymous.get('/user', { private_token: token }),
    await anonymous.get('/user', { access_token: token }),
  ];
  for (const answer of answers) assert.equal(answer.body.id, id);
  const changes = [
    await anonymous.put('/user/status', { private_token: token, emoji: 'tea' }),
    await anonymous.put('/user/status', { access_token: token, emoji: 'tea' }),
    await anonymous.put('/user/status', undefined, { headers: form, raw: `private_token=${token}&emoji=tea` }),
    await anonymous.put('/user/status', undefined, { headers: form, raw: `access_token=${token}&emoji=tea` }),
    await anonymous.put(`/user/status?private_token=${token}`, { emoji: 'tea' }),
    await anonymous.put('/user/status', undefined, { raw: multipart }),
  ];
  for (const answer of changes) assert.equal(answer.status, 200, JSON.stringify(answer.body));
});

test('an empty credential is ignored, and the first that is not empty is used', async () => {
  const { as, people } = await world({});
  const anonymous = as('anonymous');
  const empty = { 'private-token': '', authorization: 'Bearer ' };
  assert.deepEqual((await anonymous.get('/user', {}, { headers: empty })).body, unauthorized);
  const open = await anonymous.get(
    '/users',
    { username: people.guest.username, private_token: '' },
    { headers: empty },
  );
  assert.equal(open.status, 200);

  const { token } = people.guest;
  const bearer = { 'private-token': '', authorization: `Bearer ${token}` };
  assert.equal((await anonymous.get('/user', { private_token: '' }, { headers: bearer })).body.id, people.guest.id);
  const both = { headers: { 'private-token': people.planner.token } };
  assert.equal((await anonymous.get('/user', { private_token: token }, both)).body.id, people.guest.id);
  const headers = { 'private-token': people.planner.token, authorization: `Bearer ${token}` };
  assert.equal((await anonymous.get('/user', {}, { headers })).body.id, people.planner.id);
});

test('an invalid credential is refused, even where none is needed', async () => {
  const { as, people } = await world({});
  const anonymous = as('anonymous');
  const query = { username: people.guest.username };
  assert.equal((await anonymous.get('/users', query)).status, 200);
  const refused = [
    await anonymous.get('/users', { ...query, private_token: 'wrong' }),
    await anonymous.get('/users', { ...query, access_token: 'wrong' }),
    await anonymous.get('/users', { ...query, private_token: [people.guest.token] }),
    await anonymous.get('/users', { ...query, job_token: 'wrong' }),
    await anonymous.get('/users', query, { headers: { 'private-token': 'wrong' } }),
    await anonymous.get('/users', query, { headers: { 'private-token': people.guest.token.toUpperCase() } }),
    await anonymous.get('/users', query, { headers: { authorization: 'Bearer wrong' } }),
    await anonymous.get('/users', query, { headers: { authorization: 'Bearer two words' } }),
    await anonymous.get('/users', query, { headers: { 'job-token': people.guest.token } }),
  ];
  for (const answer of refused) {
    assert.equal(answer.status, 401);
    assert.deepEqual(answer.body, unauthorized);
  }
  const password = Buffer.from(`${people.guest.username}:${people.guest.token}`).toString('base64');
  assert.equal((await anonymous.get('/user', {}, { headers: { authorization: `Basic ${password}` } })).status, 401);
});

test('a token works until it expires, and refusals give the reason', async () => {
  const here = await world({});
  const tomorrow = await tokenOf(here, 'guest', ['api'], daysFromNow(1));
  assert.equal((await tomorrow.client.get('/user')).status, 200);

  const expired = await (await tokenOf(here, 'guest', ['api'], daysFromNow(0))).client.get('/user');
  const expiredText = 'Token is expired. You can either do re-authorization or token refresh.';
  assert.equal(expired.status, 401);
  assert.deepEqual(expired.body, { error: 'invalid_token', error_description: expiredText, message: expiredText });
  assert.equal(
    expired.headers.get('www-authenticate'),
    `Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="${expiredText}"`,
  );

  await here.as('guest').delete(`/personal_access_tokens/${tomorrow.id}`);
  const revoked = await tomorrow.client.get('/user');
  const revokedText = 'Token was revoked. You have to re-authorize from the user.';
  assert.equal(revoked.status, 401);
  assert.deepEqual(revoked.body, { error: 'invalid_token', error_description: revokedText, message: revokedText });
  assert.match(revoked.headers.get('www-authenticate')!, /error="invalid_token"/);
});

test('read_api reads everything and changes nothing', async () => {
  const here = await world({});
  const { client } = await tokenOf(here, 'maintainer', ['read_api']);
  const url = `/projects/${here.project.id}/freeze_periods`;
  const night = { freeze_start: '0 1 * * *', freeze_end: '0 2 * * *' };
  for (const path of [url, '/user', '/users', '/metadata']) assert.equal((await client.get(path)).status, 200, path);
  assert.equal((await client.head(url)).status, 200);
  const refused = await client.post(url, night);
  assert.equal(refused.status, 403);
  assert.deepEqual(refused.body, insufficient('api'));
  assert.equal((await client.put('/user/status', { emoji: 'tea' })).status, 403);
  assert.deepEqual((await here.as('maintainer').get(url)).body, []);

  const full = await tokenOf(here, 'maintainer', ['api']);
  assert.equal((await full.client.post(url, night)).status, 201);
});

test('read_user reads users and nothing else', async () => {
  const here = await world({});
  const { client } = await tokenOf(here, 'maintainer', ['read_user']);
  for (const path of ['/user', '/users', `/users/${here.people.guest.id}`, '/user/status', '/metadata', '/version'])
    assert.equal((await client.get(path)).status, 200, path);
  const project = await client.get(`/projects/${here.project.id}/freeze_periods`);
  assert.equal(project.status, 403);
  assert.deepEqual(project.body, insufficient('api read_api'));
  assert.equal((await client.get('/personal_access_tokens')).status, 403);
  assert.equal((await client.put('/user/status', { emoji: 'tea' })).status, 403);
});

test('a token without any scope for the API reads nothing but itself', async () => {
  const here = await world({});
  for (const scope of ['read_repository', 'write_repository', 'sudo', 'self_rotate', 'k8s_proxy']) {
    const { client } = await tokenOf(here, 'admin', [scope]);
    const refused = await client.get('/user');
    assert.equal(refused.status, 403, scope);
    assert.equal(refused.body.scope, 'api read_api read_user');
    assert.equal((await client.get('/personal_access_tokens/self')).status, 200, scope);
  }
});

test('an administrator acts as another user, by ID or username, in a header or parameter', async () => {
  const { as, people, project } = await world({});
  const { id, username } = people.guest;
  const admin = as('admin');
  const answers = [
    await admin.get('/user', { sudo: id }),
    await admin.get('/user', { sudo: username }),
    await admin.get('/user', { sudo: username.toUpperCase() }),
    await admin.get('/user', {}, { headers: { sudo: String(id) } }),
    await admin.get('/user', {}, { headers: { sudo: username } }),
  ];
  for (const answer of answers) {
    assert.equal(answer.body.id, id);
    assert.equal('is_admin' in answer.body, false);
  }
  assert.equal((await admin.put('/user/status', { sudo: id, emoji: 'tea' })).status, 200);
  assert.equal((await as('guest').get('/user/status')).body.emoji, 'tea');
  // An administrator who acts as a guest has the access of a guest.
  assert.equal((await admin.get(`/projects/${project.id}/freeze_periods`, { sudo: id })).status, 403);
  assert.equal((await admin.get('/user', { sudo: '' }, { headers: { sudo: '' } })).body.id, people.admin.id);
});

test('sudo requires an administrator, the scope sudo, and an existing user', async () => {
  const here = await world({});
  const { as, people } = here;
  const sudo = people.guest.id;
  const anonymous = await as('anonymous').get('/users', { username: people.guest.username, sudo });
  assert.equal(anonymous.status, 401);
  assert.deepEqual(anonymous.body, unauthorized);

  const owner = await as('owner').get('/user', { sudo });
  assert.equal(owner.status, 403);
  assert.deepEqual(owner.body, { message: '403 Forbidden - Must be admin to use sudo' });
  const scoped = await tokenOf(here, 'owner', ['api', 'sudo']);
  assert.equal((await scoped.client.get('/user', { sudo })).status, 403);

  const { client } = await tokenOf(here, 'admin', ['api']);
  const unscoped = await client.get('/user', { sudo });
  assert.equal(unscoped.status, 403);
  assert.deepEqual(unscoped.body, insufficient('sudo'));

  for (const who of ['nobody-here', '99999999', '9'.repeat(30), 'a\0b']) {
    const nobody = await as('admin').get('/user', { sudo: who });
    assert.equal(nobody.status, 404);
    assert.deepEqual(nobody.body, { message: `404 User with ID or username '${who}' Not Found` });
  }
});

test('with sudo the scopes of the endpoint are not required', async () => {
  const here = await world({});
  const { client } = await tokenOf(here, 'admin', ['sudo']);
  const tea = { emoji: 'tea' };
  assert.equal((await client.put('/user/status', { ...tea, sudo: here.people.guest.id })).status, 200);
  // An empty sudo is ignored: it must not bypass the scopes.
  for (const headers of [{}, { sudo: '' }] as Record<string, string>[]) {
    for (const parameters of [tea, { ...tea, sudo: '' }, { ...tea, sudo: null }])
      assert.equal((await client.put('/user/status', parameters, { headers })).status, 403);
  }
  assert.equal((await here.as('admin').get('/user/status')).body.emoji, null);
});

/** The refusal of each account state. */
async function refusalIn({ db, people, as }: World, columns: object): Promise<string> {
  const original = { state: 'active', user_type: 'human' };
  await db.updateTable('users').set(columns).where('id', '=', people.developer.id).execute();
  const answer = await as('developer').get('/user');
  const open = await as('developer').get('/users', { username: people.guest.username });
  await db.updateTable('users').set(original).where('id', '=', people.developer.id).execute();
  assert.equal(answer.status, 403);
  assert.deepEqual(open.body, answer.body);
  return answer.body.message;
}

test('users who are not active get the reason, everywhere', async () => {
  const here = await world({});
  const blocked = '403 Forbidden - Your account has been blocked.';
  assert.equal(await refusalIn(here, { state: 'blocked' }), blocked);
  assert.equal(await refusalIn(here, { state: 'banned' }), blocked);
  assert.equal(
    await refusalIn(here, { state: 'blocked_pending_approval' }),
    '403 Forbidden - Your account is pending approval from your administrator and hence blocked.',
  );
  assert.equal(
    await refusalIn(here, { state: 'deactivated' }),
    '403 Forbidden - Your account has been deactivated by your administrator. Please log back in from a web browser to reactivate your account at http://coppice.test',
  );
  assert.equal(
    await refusalIn(here, { user_type: 'ghost' }),
    '403 Forbidden - This action cannot be performed by internal users',
  );
  assert.equal((await here.as('developer').get('/user')).status, 200);
});

test('sudo does not work for blocked users, nor for blocked administrators', async () => {
  const here = await world({});
  const { as, people, db } = here;
  await as('admin').post(`/users/${people.guest.id}/block`);
  const refused = await as('admin').get('/user', { sudo: people.guest.id });
  assert.equal(refused.status, 403);
  assert.deepEqual(refused.body, { message: '403 Forbidden - Your account has been blocked.' });
  await db.updateTable('users').set({ state: 'blocked' }).where('id', '=', people.admin.id).execute();
  assert.equal((await as('admin').get('/user', { sudo: people.owner.id })).status, 403);
});

test('the last use is recorded with its address and day, at most every ten minutes', async () => {
  const here = await world({});
  const { as, db, people } = here;
  const { id, client } = await tokenOf(here, 'guest');
  const remembered = () =>
    db
      .selectFrom('personal_access_tokens')
      .select(['last_used_at', 'last_used_ips'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
  const use = async (with_: Client) => {
    assert.equal((await with_.get('/user')).status, 200);
    return remembered();
  };
  assert.deepEqual(await remembered(), { last_used_at: null, last_used_ips: [] });
  const first = await use(client);
  assert.deepEqual(first.last_used_ips, ['127.0.0.1']);
  assert.deepEqual(await use(client), first);

  const earlier = new Date(Date.now() - 11 * 60_000);
  // Writing the other column, too, drops what is kept of the token, which would be looked at again within a minute.
  await db
    .updateTable('personal_access_tokens')
    .set({ last_used_at: earlier, revoked: false })
    .where('id', '=', id)
    .execute();
  const later = await use(client);
  assert.ok(later.last_used_at! > earlier.toISOString());
  assert.deepEqual(later.last_used_ips, ['127.0.0.1']);
  const user = await db
    .selectFrom('users')
    .select('last_activity_on')
    .where('id', '=', people.guest.id)
    .executeTakeFirst();
  assert.equal(user!.last_activity_on, later.last_used_at!.slice(0, 10));
  // The day of the last use changes at midnight, perhaps minutes after the last use.
  await db
    .updateTable('users')
    .set({ last_activity_on: '2020-01-01', state: 'active' })
    .where('id', '=', people.guest.id)
    .execute();
  assert.ok((await use(client)).last_used_at! > later.last_used_at!);
  assert.equal(
    (await as('admin').get(`/users/${people.guest.id}`)).body.last_activity_on,
    new Date().toISOString().slice(0, 10),
  );
});

test('a proxy that sends no valid address does not cause a refusal', async () => {
  const here = await world({});
  for (const [address, remembered] of [
    ['unknown', []],
    ['fe80::1%eth0', ['fe80::1']],
  ] as const) {
    const { id, value } = await tokenOf(here, 'guest');
    assert.equal((await callerOfToken(here.services, { value, username: 'git', address })).id, here.people.guest.id);
    const token = await here.db
      .selectFrom('personal_access_tokens')
      .select('last_used_ips')
      .where('id', '=', id)
      .executeTakeFirst();
    assert.deepEqual(token!.last_used_ips, remembered);
  }
});
