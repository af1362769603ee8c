import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { newGpgKey } from '../../../../test/support/gpg_key.ts';
import { world } from '../../../../test/support/world.ts';

const [first, last] = ['-----BEGIN PGP PUBLIC KEY BLOCK-----', '-----END PGP PUBLIC KEY BLOCK-----'];

test('a GPG key is added, shown to everyone, revoked or deleted', async () => {
  const { as, people } = await world();
  const key = newGpgKey();
  const added = await as('guest').post('/user/gpg_keys', { key: `${key}\n` });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const { id, created_at } = added.body;
  assert.deepEqual(added.body, { id, key, created_at });

  const { id: user_id, username } = people.guest;
  assert.deepEqual((await as('guest').get('/user/gpg_keys')).body, [added.body]);
  assert.deepEqual((await as('guest').get(`/user/gpg_keys/${id}`)).body, added.body);
  assert.deepEqual((await as('anonymous').get(`/users/${username}/gpg_keys`)).body, [added.body]);
  assert.deepEqual((await as('outsider').get(`/users/${user_id}/gpg_keys/${id}`)).body, added.body);
  for (const refused of [
    await as('planner').delete(`/user/gpg_keys/${id}`),
    await as('planner').post(`/user/gpg_keys/${id}/revoke`),
    await as('planner').get(`/user/gpg_keys/${id}`),
  ])
    assert.deepEqual([refused.status, refused.body], [404, { message: '404 GPG Key Not Found' }]);
  const revoked = await as('guest').post(`/user/gpg_keys/${id}/revoke`);
  assert.deepEqual([revoked.status, revoked.body], [202, { message: '202 Accepted' }]);
  const again = await as('guest').post('/user/gpg_keys', { key });
  assert.equal((await as('guest').delete(`/user/gpg_keys/${again.body.id}`)).status, 204);
  assert.deepEqual((await as('guest').get('/user/gpg_keys')).body, []);
});

test('a GPG key belongs to one user, and invalid keys are refused', async () => {
  const { as } = await world();
  const key = newGpgKey();
  assert.equal((await as('guest').post('/user/gpg_keys', { key })).status, 201);
  const taken = await as('planner').post('/user/gpg_keys', { key });
  assert.deepEqual([taken.status, taken.body], [400, { message: { fingerprint: ['has already been taken'] } }]);
  const nameless = Buffer.from(key.split('\n')[2]!, 'base64').subarray(0, 40).toString('base64');
  const broken = [
    'ssh-ed25519 AAAA',
    '',
    `${first}\n${last}`,
    `${first}${last}`,
    `${first}\n\n${nameless}\n${last}`,
    key.replace(last, `=AAAA\n${last}`),
    key.slice(1),
    `${first}\n\nxv8=\n${last}`,
    `${first}\n\nÿÿ\n${last}`,
  ];
  for (const wrong of broken) {
    const refused = await as('planner').post('/user/gpg_keys', { key: wrong });
    assert.equal(refused.status, 400, wrong);
    assert.match(refused.body.message.key[0], /^is invalid\. A valid public GPG key begins with/);
  }
  assert.equal((await as('planner').post('/user/gpg_keys', {})).body.message, 'key is missing');
  assert.deepEqual((await as('planner').get('/user/gpg_keys')).body, []);
});

test('administrators add, revoke and delete GPG keys of others', async () => {
  const { as, people, db } = await world();
  const url = `/users/${people.guest.id}/gpg_keys`;
  const key = newGpgKey();
  assert.equal((await as('guest').post(url, { key })).status, 403);
  const added = await as('admin').post(url, { key });
  assert.equal(added.status, 201);
  const { fingerprint } = await db
    .selectFrom('gpg_keys')
    .select('fingerprint')
    .where('id', '=', added.body.id)
    .executeTakeFirstOrThrow();
  const primary = Buffer.from(key.split('\n')[2]!, 'base64').subarray(2, 40);
  const expected = createHash('sha1')
    .update(Buffer.from([0x99, 0, primary.length]))
    .update(primary);
  assert.deepEqual(fingerprint, expected.digest());
  assert.equal((await as('planner').post(`${url}/${added.body.id}/revoke`)).status, 403);
  assert.equal((await as('admin').post(`${url}/${added.body.id}/revoke`)).status, 202);
  const other = await as('admin').post(url, { key: newGpgKey() });
  assert.equal((await as('admin').delete(`${url}/${other.body.id}`)).status, 204);
  assert.deepEqual((await as('guest').get('/user/gpg_keys')).body, []);
  assert.equal((await as('admin').post('/users/99999999/gpg_keys', { key })).status, 404);
});

test('a key of version 6 has the fingerprint that other programs compute', async () => {
  const { as, db } = await world();
  // Made by OpenPGP.js, without its signatures and subkeys.
  const key = `${first}\n\nxioGawv/jRsAAAAg0Q8AwfNZbLS6xwB7x4VCH7wRC+SbWzuILI82hATrhsPNFUFkYSA8YWRhQGV4YW1wbGUuY29tPg==\n${last}`;
  const { body } = await as('guest').post('/user/gpg_keys', { key });
  const { fingerprint } = await db
    .selectFrom('gpg_keys')
    .select('fingerprint')
    .where('id', '=', body.id)
    .executeTakeFirstOrThrow();
  assert.equal(fingerprint.toString('hex'), 'a3af0222822c312417af4929dd59737d1c2fab7d752e385eeb7210337eb15b48');
});
