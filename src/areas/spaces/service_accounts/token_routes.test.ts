import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { clientOf } from '../../../../test/support/client.ts';
import { untilLockWaits } from '../../../../test/support/waiting.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { lockPlace } from '../../../access/index.ts';
import { daysFromNow } from '../../../cron/index.ts';

const names = ({ body }: { body: { name: string }[] }) => body.map(({ name }) => name);
const wish = (more: object = {}) => ({ name: 'deploy', scopes: ['api'], ...more });

/** A world with a service account in its group, and the URL of its tokens. */
async function accountWorld(): Promise<
  World & { id: number; base: string; holding(token: string): ReturnType<typeof clientOf> }
> {
  const here = await world({});
  await here.db
    .updateTable('application_settings')
    .set({ allow_top_level_group_owners_to_create_service_accounts: true })
    .execute();
  const accounts = `/groups/${here.group.id}/service_accounts`;
  const { id } = (await here.as('owner').post(accounts)).body;
  const holding = (token: string) => clientOf(`${here.url}/api/v4`, token);
  return { ...here, id, base: `${accounts}/${id}/personal_access_tokens`, holding };
}

test('a token is shown once, acts as its service account, and stops working when it is revoked', async () => {
  const { as, base, id, holding } = await accountWorld();
  const made = await as('owner').post(base, wish({ description: 'by night', scopes: ['api', 'self_rotate'] }));
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { token, created_at, id: token_id, ...rest } = made.body;
  assert.deepEqual(rest, {
    name: 'deploy',
    description: 'by night',
    scopes: ['api', 'self_rotate'],
    user_id: id,
    revoked: false,
    active: true,
    last_used_at: null,
    expires_at: daysFromNow(365),
  });
  assert.deepEqual((await as('owner').get(base)).body, [{ id: token_id, created_at, ...rest }]);
  const client = holding(token);
  assert.equal((await client.get('/user')).body.id, id);
  assert.equal((await client.get('/personal_access_tokens/self')).body.id, token_id);
  assert.equal((await client.post('/user/personal_access_tokens', { name: 'x', scopes: ['k8s_proxy'] })).status, 201);

  assert.equal((await as('owner').delete(`${base}/${token_id}`)).status, 204);
  assert.equal((await client.get('/user')).status, 401);
  assert.equal((await as('owner').delete(`${base}/${token_id}`)).status, 400);
  const unknown = await as('owner').delete(`${base}/99999999`);
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Personal Access Token Not Found' }]);
});

test('invalid tokens are refused, and none is created', async () => {
  const { as, base } = await accountWorld();
  const refusals: [object, number, string][] = [
    [{ name: undefined }, 400, 'name is missing'],
    [{ scopes: undefined }, 400, 'scopes is missing'],
    [{ scopes: ['everything'] }, 400, 'scopes does not have a valid value'],
    [{ expires_at: 'soon' }, 400, 'expires_at is invalid'],
    [{ scopes: [] }, 422, "Scopes can't be blank"],
    [{ name: ' ' }, 422, "Name can't be blank"],
    [{ expires_at: daysFromNow(-1) }, 422, 'Expires at cannot be a date in the past'],
    [{ expires_at: daysFromNow(366) }, 422, `Expires at must be on or before ${daysFromNow(365)}`],
  ];
  for (const [more, status, text] of refusals) {
    const refused = await as('owner').post(base, wish(more));
    assert.deepEqual([refused.status, refused.body.message], [status, text]);
  }
  assert.deepEqual((await as('owner').get(base)).body, []);
});

test('the list is filtered and ordered by every parameter', async () => {
  const { as, base, db, id, people } = await accountWorld();
  const add = (name: string, more: object) =>
    db
      .insertInto('personal_access_tokens')
      .values({ user_id: id, name, scopes: ['api'], token_digest: Buffer.from(`${id} ${name}`), ...more })
      .execute();
  await add('alpha', {
    created_at: '2030-01-01T00:00:00Z',
    expires_at: '2031-03-01',
    last_used_at: '2030-02-03T00:00:00Z',
  });
  await add('gamma', { created_at: '2030-01-02T00:00:00Z', expires_at: '2031-01-01', revoked: true });
  await add('beta', {
    created_at: '2030-01-03T00:00:00Z',
    expires_at: '2020-01-01',
    last_used_at: '2030-02-01T00:00:00Z',
  });
  await add('hidden', { impersonation: true });
  await as('admin').post(`/users/${people.guest.id}/personal_access_tokens`, wish({ name: 'of another user' }));
  const lists: [object, string[]][] = [
    [{}, ['alpha', 'gamma', 'beta']],
    [{ created_after: '2030-01-02T00:00:00Z' }, ['gamma', 'beta']],
    [{ created_before: '2030-01-02T00:00:00Z' }, ['alpha', 'gamma']],
    [{ last_used_after: '2030-02-02T00:00:00Z' }, ['alpha']],
    [{ last_used_before: '2030-02-02T00:00:00Z' }, ['beta']],
    [{ expires_after: '2031-01-01' }, ['alpha', 'gamma']],
    [{ expires_before: '2031-01-01' }, ['gamma', 'beta']],
    [{ revoked: true }, ['gamma']],
    [{ revoked: false }, ['alpha', 'beta']],
    [{ search: 'ET' }, ['beta']],
    [{ state: 'active' }, ['alpha']],
    [{ state: 'inactive' }, ['gamma', 'beta']],
    [{ user_id: people.guest.id }, ['alpha', 'gamma', 'beta']],
    [{ sort: 'created_asc' }, ['alpha', 'gamma', 'beta']],
    [{ sort: 'created_desc' }, ['beta', 'gamma', 'alpha']],
    [{ sort: 'expires_asc' }, ['beta', 'gamma', 'alpha']],
    [{ sort: 'expires_desc' }, ['alpha', 'gamma', 'beta']],
    [{ sort: 'last_used_asc' }, ['beta', 'alpha', 'gamma']],
    [{ sort: 'last_used_desc' }, ['alpha', 'beta', 'gamma']],
    [{ sort: 'name_asc' }, ['alpha', 'beta', 'gamma']],
    [{ sort: 'name_desc' }, ['gamma', 'beta', 'alpha']],
    [{ sort: 'name_asc', per_page: 1, page: 2 }, ['beta']],
  ];
  for (const [query, expected] of lists)
    assert.deepEqual(names(await as('owner').get(base, { ...query })), expected, JSON.stringify(query));
  for (const [name, value, text] of [
    ['state', 'old', 'state does not have a valid value'],
    ['sort', 'id', 'sort does not have a valid value'],
    ['revoked', 'perhaps', 'revoked is invalid'],
    ['expires_after', 'soon', 'expires_after is invalid'],
  ] as const)
    assert.equal((await as('owner').get(base, { [name]: value })).body.error, text);
});

test('a token is rotated once, and not after it has expired', async () => {
  const { as, base, db, holding } = await accountWorld();
  const old = (await as('owner').post(base, wish({ description: 'by night' }))).body;
  const rotated = await as('owner').post(`${base}/${old.id}/rotate`);
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body));
  const { name, description, scopes, expires_at, token } = rotated.body;
  assert.deepEqual([name, description, scopes, expires_at], ['deploy', 'by night', ['api'], daysFromNow(7)]);
  assert.equal((await holding(old.token).get('/user')).status, 401);
  assert.equal((await holding(token).get('/user')).status, 200);
  const again = await as('owner').post(`${base}/${old.id}/rotate`);
  assert.deepEqual([again.status, again.body], [400, { message: '400 Bad request - Token already revoked' }]);
  const unknown = await as('owner').post(`${base}/99999999/rotate`);
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Not Found' }]);
  const far = await as('owner').post(`${base}/${rotated.body.id}/rotate`, { expires_at: daysFromNow(366) });
  assert.deepEqual(
    [far.status, far.body.message],
    [400, `400 Bad request - Expires at must be on or before ${daysFromNow(365)}`],
  );
  assert.equal((await holding(token).get('/user')).status, 200);

  await db
    .updateTable('personal_access_tokens')
    .set({ expires_at: '2020-01-01' })
    .where('id', '=', rotated.body.id)
    .execute();
  const ended = await as('owner').post(`${base}/${rotated.body.id}/rotate`);
  assert.deepEqual([ended.status, ended.body], [400, { message: '400 Bad request - Token already expired' }]);
});

test('tokens of service accounts never expire if the setting allows it, and those of people still do', async () => {
  const { as, base, id, people } = await accountWorld();
  assert.equal(
    (await as('admin').put('/application/settings', { service_access_tokens_expiration_enforced: false })).status,
    200,
  );
  assert.equal((await as('owner').post(base, wish())).body.expires_at, null);
  assert.equal((await as('owner').post(base, wish({ expires_at: '2999-01-01' }))).body.expires_at, '2999-01-01');
  assert.equal((await as('admin').post(`/users/${id}/personal_access_tokens`, wish())).body.expires_at, null);
  const ofPerson = await as('admin').post(`/users/${people.guest.id}/personal_access_tokens`, wish());
  assert.equal(ofPerson.body.expires_at, daysFromNow(365));
  await as('admin').put('/application/settings', {
    service_access_tokens_expiration_enforced: true,
    require_personal_access_token_expiry: false,
  });
  assert.equal((await as('owner').post(base, wish())).body.expires_at, daysFromNow(365));
  await as('admin').put('/application/settings', { require_personal_access_token_expiry: true });
});

test("administrators create, list, rotate and revoke tokens of the instance's service accounts", async () => {
  const { as, holding } = await accountWorld();
  const { id } = (await as('admin').post('/service_accounts')).body;
  const made = (await as('admin').post(`/users/${id}/personal_access_tokens`, wish())).body;
  assert.equal((await holding(made.token).get('/user')).body.id, id);
  assert.deepEqual(names(await as('admin').get('/personal_access_tokens', { user_id: id })), ['deploy']);
  const rotated = await as('admin').post(`/personal_access_tokens/${made.id}/rotate`);
  assert.equal(rotated.status, 200);
  assert.equal((await holding(made.token).get('/user')).status, 401);
  assert.equal((await as('owner').delete(`/personal_access_tokens/${rotated.body.id}`)).status, 401);
  assert.equal((await as('admin').delete(`/personal_access_tokens/${rotated.body.id}`)).status, 204);
  assert.equal((await holding(rotated.body.token).get('/user')).status, 401);
});

test('a caller who loses the group while a change of tokens waits is refused', async () => {
  const { as, base, group, people, db } = await accountWorld();
  const { id } = (await as('owner').post(base, wish())).body;
  for (const change of [
    () => as('owner').post(base, wish()),
    () => as('owner').post(`${base}/${id}/rotate`),
    () => as('owner').delete(`${base}/${id}`),
  ]) {
    const level = (tx: typeof db, access_level: number) =>
      sql`update group_authorizations set access_level = ${access_level} where group_id = ${group.id} and user_id = ${people.owner.id}`.execute(
        tx,
      );
    let waiting!: ReturnType<typeof change>;
    await db.transaction().execute(async (tx) => {
      await lockPlace(tx, { group_id: group.id });
      await level(tx, 30);
      waiting = change();
      await untilLockWaits(db);
    });
    assert.equal((await waiting).status, 403);
    await level(db, 50);
  }
  const tokens = (await as('owner').get(base)).body;
  assert.deepEqual(
    tokens.map(({ id, revoked }: { id: number; revoked: boolean }) => [id, revoked]),
    [[id, false]],
  );
});
