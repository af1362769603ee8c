import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientOf } from '../../../../test/support/client.ts';
import { world } from '../../../../test/support/world.ts';

test('an administrator creates an impersonation token, which the user does not see', async () => {
  const { as, people, url } = await world();
  const base = `/users/${people.guest.id}/impersonation_tokens`;
  const made = await as('admin').post(base, { name: 'support', scopes: ['api'], description: 'a call for help' });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { token, ...shown } = made.body;
  assert.deepEqual([shown.impersonation, shown.user_id, shown.active], [true, people.guest.id, true]);
  const client = clientOf(`${url}/api/v4`, token);
  assert.equal((await client.get('/user')).body.id, people.guest.id);
  assert.equal((await as('guest').get('/personal_access_tokens')).body.length, 1);

  const { last_used_at } = (await as('admin').get(`${base}/${shown.id}`)).body;
  assert.deepEqual((await as('admin').get(base)).body, [{ ...shown, last_used_at }]);
  assert.equal((await as('admin').delete(`${base}/${shown.id}`)).status, 204);
  assert.equal((await client.get('/user')).status, 401);
  assert.deepEqual((await as('admin').get(base, { state: 'active' })).body, []);
  assert.equal((await as('admin').get(base, { state: 'inactive' })).body.length, 1);
});

test('other tokens are not found, and only administrators have access', async () => {
  const { as, people } = await world();
  const base = `/users/${people.guest.id}/impersonation_tokens`;
  const own = (await as('guest').get('/personal_access_tokens')).body[0];
  const other = await as('admin').get(`${base}/${own.id}`);
  assert.deepEqual([other.status, other.body], [404, { message: '404 Impersonation Token Not Found' }]);
  assert.equal((await as('admin').delete(`${base}/${own.id}`)).status, 404);
  assert.equal((await as('guest').get('/user')).status, 200);
  for (const more of [{}, { scopes: [] }]) {
    const blank = await as('admin').post(base, { name: 'x', ...more });
    assert.deepEqual([blank.status, blank.body], [400, { message: { scopes: ["can't be blank"] } }]);
  }
  const over = await as('admin').post(base, { name: 'x', scopes: ['api'], expires_at: '2026-01-01' });
  assert.deepEqual([over.status, over.body], [400, { message: { expires_at: ['cannot be a date in the past'] } }]);
  assert.equal((await as('guest').post(base, { name: 'x', scopes: ['api'] })).status, 403);
  assert.equal((await as('admin').get('/users/99999999/impersonation_tokens')).status, 404);
  assert.deepEqual((await as('admin').get(base)).body, []);
});
