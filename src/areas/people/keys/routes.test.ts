import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPublicKey } from '../../../../test/support/public_key.ts';
import { world } from '../../../../test/support/world.ts';

test('an SSH key is added, shown to everyone, and deleted', async () => {
  const { as, people } = await world();
  const key = newPublicKey();
  const added = await as('guest').post('/user/keys', { title: 'laptop', key: `${key}\n`, usage_type: 'signing' });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const { id, created_at } = added.body;
  assert.deepEqual(added.body, {
    id,
    title: 'laptop',
    created_at,
    expires_at: null,
    last_used_at: null,
    key,
    usage_type: 'signing',
  });

  const { id: user_id, username } = people.guest;
  assert.deepEqual((await as('guest').get('/user/keys')).body, [added.body]);
  assert.deepEqual((await as('guest').get(`/user/keys/${id}`)).body, added.body);
  assert.deepEqual((await as('anonymous').get(`/users/${username}/keys`)).body, [added.body]);
  assert.deepEqual((await as('outsider').get(`/users/${user_id}/keys/${id}`)).body, added.body);
  assert.deepEqual((await as('planner').get('/user/keys')).body, []);

  const other = await as('planner').delete(`/user/keys/${id}`);
  assert.deepEqual([other.status, other.body], [404, { message: '404 Key Not Found' }]);
  assert.equal((await as('guest').delete(`/user/keys/${id}`)).status, 204);
  assert.deepEqual((await as('guest').get('/user/keys')).body, []);
});

test('an SSH key belongs to one user, regardless of its comment', async () => {
  const { as } = await world();
  const key = newPublicKey();
  assert.equal((await as('guest').post('/user/keys', { title: 'mine', key })).status, 201);
  const taken = await as('planner').post('/user/keys', { title: 'mine, too', key: key.replace('ada@', 'eve@') });
  assert.deepEqual([taken.status, taken.body], [400, { message: { fingerprint_sha256: ['has already been taken'] } }]);
  const wrong = await as('planner').post('/user/keys', { title: '', key: 'ssh-ed25519 AAAA' });
  assert.deepEqual(wrong.body, { message: { title: ["can't be blank"], key: ['is invalid'] } });
  const late = await as('planner').post('/user/keys', { title: 'x', key: newPublicKey(), expires_at: '2020-01-01' });
  assert.deepEqual(late.body, { message: { key: ['has expired'] } });
  const nothing = await as('planner').post('/user/keys', {});
  assert.equal(nothing.body.message, 'title is missing, key is missing');
  assert.deepEqual((await as('planner').get('/user/keys')).body, []);
});

test('administrators add and delete SSH keys of others', async () => {
  const { as, people } = await world();
  const url = `/users/${people.guest.id}/keys`;
  const refused = await as('guest').post(url, { title: 'x', key: newPublicKey() });
  assert.equal(refused.status, 403);
  const added = await as('admin').post(url, { title: 'x', key: newPublicKey(), expires_at: '2999-01-01' });
  assert.equal(added.body.expires_at, '2999-01-01T00:00:00.000Z');
  assert.equal((await as('planner').delete(`${url}/${added.body.id}`)).status, 403);
  const named = `/users/${people.guest.username}/keys/${added.body.id}`;
  assert.equal((await as('admin').delete(named)).status, 204);
  assert.deepEqual((await as('guest').get('/user/keys')).body, []);
  assert.equal((await as('admin').post('/users/99999999/keys', { title: 'x', key: newPublicKey() })).status, 404);
});
