import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../test/support/client.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { daysFromNow } from '../../../cron/index.ts';
import { ghostUser } from '../users/internal_actions.ts';
import { createToken, type NewToken } from './actions.ts';
import { lastDay } from './rules.ts';

/** The lifetime of tokens with default settings. */
const usual = { maximum_days: 365, is_limited: true };

const members = [
  'id',
  'name',
  'revoked',
  'created_at',
  'description',
  'scopes',
  'user_id',
  'last_used_at',
  'active',
  'expires_at',
];
const ids = (body: { id: number }[]) => body.map(({ id }) => id);

/** Another token of a persona, with a client that uses it. */
async function tokenOf({ db, people, url }: World, persona: Persona, more: Partial<NewToken> = {}) {
  const token = { user_id: people[persona].id, name: 'another', scopes: ['api'], expires_at: daysFromNow(30), ...more };
  const { id, value } = await createToken(db, token);
  return { id, value, client: clientOf(`${url}/api/v4`, value) };
}

test('an administrator creates a token for a user, whose value is shown once and works', async () => {
  const { as, people, url, db } = await world();
  const made = await as('admin').post(`/users/${people.guest.id}/personal_access_tokens`, {
    name: 'robot',
    description: 'for the robot',
    scopes: 'api,read_user',
    expires_at: daysFromNow(10),
  });
  assert.equal(made.status, 201);
  assert.deepEqual(Object.keys(made.body), [...members, 'token']);
  const { token, created_at: _at, ...shown } = made.body;
  assert.deepEqual(shown, {
    id: made.body.id,
    name: 'robot',
    revoked: false,
    description: 'for the robot',
    scopes: ['api', 'read_user'],
    user_id: people.guest.id,
    last_used_at: null,
    active: true,
    expires_at: daysFromNow(10),
  });
  assert.match(token, /^glpat-[\w-]{20,}$/);
  const client = clientOf(`${url}/api/v4`, token);
  assert.equal((await client.get('/user')).body.id, people.guest.id);

  const listed = await as('guest').get('/personal_access_tokens', { search: 'ROBOT' });
  assert.deepEqual(Object.keys(listed.body[0]), members);
  const single = await as('guest').get(`/personal_access_tokens/${made.body.id}`);
  assert.deepEqual(Object.keys(single.body), [...members, 'last_used_ips']);
  assert.deepEqual(single.body.last_used_ips, ['127.0.0.1']);
  assert.notEqual(single.body.last_used_at, null);
  const kept = await db
    .selectFrom('personal_access_tokens')
    .selectAll()
    .where('id', '=', made.body.id)
    .executeTakeFirst();
  assert.equal(JSON.stringify(kept).includes(token), false);
});

test('a token can end today, and does not work then', async () => {
  const { as, people, project, url } = await world();
  const wish = { name: 'short', scopes: ['api'], expires_at: daysFromNow(0) };
  const { id } = people.guest;
  const made = [
    await as('admin').post(`/users/${id}/personal_access_tokens`, wish),
    await as('admin').post(`/users/${id}/impersonation_tokens`, wish),
    await as('maintainer').post(`/projects/${project.id}/access_tokens`, wish),
  ];
  for (const { status, body } of made) {
    assert.deepEqual([status, body.expires_at, body.active], [201, daysFromNow(0), false], JSON.stringify(body));
    assert.equal((await clientOf(`${url}/api/v4`, body.token).get('/user')).status, 401);
  }
});

test('a token without expires_at expires after a year, and none lives longer', async () => {
  const { as, people } = await world();
  const url = `/users/${people.guest.id}/personal_access_tokens`;
  const year = await as('admin').post(url, { name: 'year', scopes: ['api'] });
  assert.equal(year.body.expires_at, lastDay(usual));
  assert.equal(
    (await as('admin').post(url, { name: 'year', scopes: ['api'], expires_at: lastDay(usual) })).status,
    201,
  );

  const before = (await as('admin').get('/personal_access_tokens', { user_id: people.guest.id })).body.length;
  const refusals: [object, string][] = [
    [{ expires_at: daysFromNow(-1) }, 'Expires at cannot be a date in the past'],
    [{ expires_at: daysFromNow(366) }, `Expires at must be on or before ${lastDay(usual)}`],
    [{ scopes: [] }, "Scopes can't be blank"],
    [{ name: ' ', scopes: [] }, "Name can't be blank and Scopes can't be blank"],
    [
      { name: ' ', scopes: [], expires_at: '2999-01-01' },
      `Name can't be blank, Scopes can't be blank, and Expires at must be on or before ${lastDay(usual)}`,
    ],
    [{ description: 'x'.repeat(256) }, 'Description is too long (maximum is 255 characters)'],
  ];
  for (const [change, message] of refusals) {
    const refused = await as('admin').post(url, { name: 'n', scopes: ['api'], ...change });
    assert.equal(refused.status, 422, JSON.stringify(change));
    assert.deepEqual(refused.body, { message });
  }
  const unknown = await as('admin').post(url, { name: 'n', scopes: ['api', 'everything', 'more'] });
  assert.equal(unknown.status, 400);
  assert.equal(unknown.body.message, 'scopes does not have a valid value');
  assert.equal((await as('admin').post(url, {})).body.message, 'name is missing, scopes is missing');
  assert.equal((await as('admin').get('/personal_access_tokens', { user_id: people.guest.id })).body.length, before);
});

test('only administrators create tokens for others, and only for existing users', async () => {
  const { as, people, services } = await world();
  const url = `/users/${people.guest.id}/personal_access_tokens`;
  const wish = { name: 'n', scopes: ['api'] };
  assert.equal((await as('guest').post(url, wish)).status, 403);
  assert.equal((await as('anonymous').post(url, wish)).status, 401);
  assert.deepEqual((await as('admin').post('/users/99999999/personal_access_tokens', wish)).body, {
    message: '404 User Not Found',
  });
  const ghost = await as('admin').post(`/users/${await ghostUser(services)}/personal_access_tokens`, wish);
  assert.equal(ghost.status, 422);
  assert.deepEqual(ghost.body, { message: 'Not permitted to create' });
});

test('users create only tokens of limited scope for themselves', async () => {
  const { as, people } = await world();
  const made = await as('guest').post('/user/personal_access_tokens', {
    name: 'agent',
    scopes: ['k8s_proxy', 'self_rotate'],
  });
  assert.equal(made.status, 201);
  assert.equal(made.body.user_id, people.guest.id);
  assert.equal(made.body.expires_at, daysFromNow(1));
  const refused = await as('guest').post('/user/personal_access_tokens', { name: 'more', scopes: ['api'] });
  assert.equal(refused.status, 400);
  assert.equal(refused.body.message, 'scopes does not have a valid value');
  assert.equal((await as('guest').get('/personal_access_tokens')).body.length, 2);
});

test('users see their own tokens; administrators see all', async () => {
  const here = await world();
  const { as, people } = here;
  const { id } = await tokenOf(here, 'guest');
  const impersonation = await tokenOf(here, 'guest', { impersonation: true });
  const own = (await as('guest').get('/personal_access_tokens')).body;
  assert.equal(own.length, 2);
  assert.ok(own.every(({ user_id }: { user_id: number }) => user_id === people.guest.id));
  assert.equal((await as('guest').get('/personal_access_tokens', { user_id: people.guest.id })).body.length, 2);

  const foreign = await as('outsider').get('/personal_access_tokens', { user_id: people.guest.id });
  assert.equal(foreign.status, 401);
  assert.deepEqual(foreign.body, { message: '401 Unauthorized' });
  for (const hidden of [id, 99999999]) {
    assert.equal((await as('outsider').get(`/personal_access_tokens/${hidden}`)).status, 401);
    assert.equal((await as('outsider').delete(`/personal_access_tokens/${hidden}`)).status, 401);
    assert.equal((await as('outsider').post(`/personal_access_tokens/${hidden}/rotate`)).status, 401);
  }
  assert.equal((await as('guest').get(`/personal_access_tokens/${impersonation.id}`)).status, 401);

  assert.equal((await as('admin').get('/personal_access_tokens', { user_id: people.guest.id })).body.length, 3);
  assert.equal((await as('admin').get(`/personal_access_tokens/${id}`)).body.active, true);
  const nothing = await as('admin').get('/personal_access_tokens/99999999');
  assert.equal(nothing.status, 404);
  assert.deepEqual(nothing.body, { message: '404 Not Found' });
});

test('the list of tokens is filtered and sorted', async () => {
  const here = await world();
  const { as, people, db } = here;
  await db.deleteFrom('personal_access_tokens').where('user_id', '=', people.guest.id).execute();
  const soon = await tokenOf(here, 'guest', { name: 'b soon', expires_at: daysFromNow(2) });
  const late = await tokenOf(here, 'guest', { name: 'C late', expires_at: daysFromNow(200) });
  const over = await tokenOf(here, 'guest', { name: 'a over', expires_at: daysFromNow(-3) });
  const ended = await tokenOf(here, 'guest', { name: 'd ended' });
  await as('admin').delete(`/personal_access_tokens/${ended.id}`);
  await late.client.get('/user');
  const listed = async (filters: object) =>
    ids((await as('admin').get('/personal_access_tokens', { user_id: people.guest.id, ...filters })).body);

  assert.deepEqual(await listed({}), [soon.id, late.id, over.id, ended.id]);
  assert.deepEqual(await listed({ state: 'active' }), [soon.id, late.id]);
  assert.deepEqual(await listed({ state: 'inactive' }), [over.id, ended.id]);
  assert.deepEqual(await listed({ revoked: true }), [ended.id]);
  assert.deepEqual(await listed({ revoked: false }), [soon.id, late.id, over.id]);
  assert.deepEqual(await listed({ search: 'LATE' }), [late.id]);
  assert.deepEqual(await listed({ search: '%' }), []);
  assert.deepEqual(await listed({ expires_before: daysFromNow(2) }), [soon.id, over.id]);
  assert.deepEqual(await listed({ expires_after: daysFromNow(31) }), [late.id]);
  assert.deepEqual(await listed({ last_used_after: '2001-01-01' }), [late.id]);
  assert.deepEqual(await listed({ last_used_before: '2001-01-01' }), []);
  assert.deepEqual(await listed({ created_before: '2001-01-01' }), []);
  assert.deepEqual(await listed({ created_after: '2001-01-01', sort: 'created_desc' }), [
    ended.id,
    over.id,
    late.id,
    soon.id,
  ]);
  assert.deepEqual(await listed({ sort: 'created_asc' }), [soon.id, late.id, over.id, ended.id]);
  assert.deepEqual(await listed({ sort: 'name_asc' }), [over.id, soon.id, late.id, ended.id]);
  assert.deepEqual(await listed({ sort: 'name_desc' }), [ended.id, late.id, soon.id, over.id]);
  assert.deepEqual(await listed({ sort: 'expires_asc' }), [over.id, soon.id, ended.id, late.id]);
  assert.deepEqual((await listed({ sort: 'last_used_desc' }))[0], late.id);
  assert.deepEqual(await listed({ sort: 'name_asc', per_page: 1, page: 2 }), [soon.id]);
});

test('a token shows and revokes itself with any scope', async () => {
  const here = await world();
  const { id, client } = await tokenOf(here, 'guest', { scopes: ['read_repository'] });
  const self = await client.get('/personal_access_tokens/self');
  assert.equal(self.status, 200);
  assert.equal(self.body.id, id);
  assert.deepEqual(self.body.last_used_ips, ['127.0.0.1']);
  assert.equal((await client.get('/personal_access_tokens')).status, 403);

  assert.equal((await client.delete('/personal_access_tokens/self')).status, 204);
  assert.equal((await client.get('/personal_access_tokens/self')).status, 401);
  assert.equal((await here.as('guest').get(`/personal_access_tokens/${id}`)).body.revoked, true);
});

test('users revoke their tokens, each once', async () => {
  const here = await world();
  const { id, client } = await tokenOf(here, 'guest');
  assert.equal((await here.as('guest').delete(`/personal_access_tokens/${id}`)).status, 204);
  assert.equal((await client.get('/user')).status, 401);
  const again = await here.as('guest').delete(`/personal_access_tokens/${id}`);
  assert.equal(again.status, 400);
  assert.deepEqual(again.body, { message: '400 Bad request' });
  assert.equal((await here.as('admin').delete('/personal_access_tokens/99999999')).status, 404);
});

test('rotation replaces a token by one with the same scopes', async () => {
  const here = await world();
  const { as, url } = here;
  const old = await tokenOf(here, 'guest', { name: 'rotating', description: 'd', scopes: ['api', 'read_user'] });
  const rotated = await as('guest').post(`/personal_access_tokens/${old.id}/rotate`);
  assert.equal(rotated.status, 200);
  assert.notEqual(rotated.body.id, old.id);
  assert.equal(rotated.body.expires_at, daysFromNow(7));
  const { name, description, scopes } = rotated.body;
  assert.deepEqual({ name, description, scopes }, { name: 'rotating', description: 'd', scopes: ['api', 'read_user'] });
  assert.equal((await old.client.get('/user')).status, 401);
  assert.equal((await clientOf(`${url}/api/v4`, rotated.body.token).get('/user')).status, 200);

  const again = await as('guest').post(`/personal_access_tokens/${old.id}/rotate`);
  assert.equal(again.status, 400);
  assert.deepEqual(again.body, { message: '400 Bad request - Token already revoked' });
  const past = await as('guest').post(`/personal_access_tokens/${rotated.body.id}/rotate`, {
    expires_at: daysFromNow(-1),
  });
  assert.deepEqual(
    [past.status, past.body],
    [400, { message: '400 Bad request - Expires at cannot be a date in the past' }],
  );
  const tooLate = await as('guest').post(`/personal_access_tokens/${rotated.body.id}/rotate`, {
    expires_at: daysFromNow(366),
  });
  assert.equal(tooLate.status, 400);
  assert.deepEqual(tooLate.body, { message: `400 Bad request - Expires at must be on or before ${lastDay(usual)}` });
  assert.equal((await as('guest').get(`/personal_access_tokens/${rotated.body.id}`)).body.active, true);

  const over = await tokenOf(here, 'guest', { expires_at: daysFromNow(0) });
  assert.equal((await as('guest').post(`/personal_access_tokens/${over.id}/rotate`)).status, 401);
  assert.equal((await as('admin').post('/personal_access_tokens/99999999/rotate')).status, 404);
});

test('a token with the scope self_rotate rotates itself and nothing else', async () => {
  const here = await world();
  const { url } = here;
  const { id, client } = await tokenOf(here, 'guest', { scopes: ['self_rotate'] });
  const other = await tokenOf(here, 'guest');
  assert.equal((await client.post(`/personal_access_tokens/${other.id}/rotate`)).status, 403);
  assert.equal((await other.client.get('/user')).status, 200);
  const rotated = await client.post('/personal_access_tokens/self/rotate', { expires_at: daysFromNow(3) });
  assert.equal(rotated.status, 200);
  assert.deepEqual([rotated.body.scopes, rotated.body.expires_at], [['self_rotate'], daysFromNow(3)]);
  assert.equal((await here.as('guest').get(`/personal_access_tokens/${id}`)).body.revoked, true);

  const reader = await tokenOf(here, 'guest', { scopes: ['read_api'] });
  const refused = await reader.client.post('/personal_access_tokens/self/rotate');
  assert.equal(refused.status, 403);
  assert.equal(refused.body.scope, 'api self_rotate');
  const next = clientOf(`${url}/api/v4`, rotated.body.token);
  assert.equal((await next.get('/personal_access_tokens/self')).body.active, true);
});

test('a rotation with a revoked token revokes the whole chain of rotations', async () => {
  const here = await world();
  const { as, url } = here;
  const first = await tokenOf(here, 'guest');
  const stranger = await tokenOf(here, 'guest');
  const second = (await first.client.post('/personal_access_tokens/self/rotate')).body;
  const third = (await clientOf(`${url}/api/v4`, second.token).post('/personal_access_tokens/self/rotate')).body;
  const active = async (id: number) => (await as('guest').get(`/personal_access_tokens/${id}`)).body.active;

  // Any other use of a revoked token is only refused.
  assert.equal((await first.client.get('/user')).status, 401);
  assert.equal(await active(third.id), true);

  const stolen = await clientOf(`${url}/api/v4`, second.token).post('/personal_access_tokens/self/rotate');
  assert.equal(stolen.status, 401);
  assert.equal(stolen.body.error, 'invalid_token');
  assert.equal(await active(third.id), false);
  assert.equal(await active(stranger.id), true);
});

test('two concurrent rotations of one token create one token', async () => {
  const here = await world();
  const { id } = await tokenOf(here, 'guest');
  const answers = await Promise.all([1, 2, 3].map(() => here.as('guest').post(`/personal_access_tokens/${id}/rotate`)));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 400, 400]);
});
