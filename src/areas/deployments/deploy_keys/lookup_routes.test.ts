import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { newPublicKey } from '../../../../test/support/public_key.ts';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';

const bytesOf = (key: string) => Buffer.from(key.split(' ')[1]!, 'base64');
const sha256 = (key: string) => `SHA256:${createHash('sha256').update(bytesOf(key)).digest('base64').replace('=', '')}`;
const md5 = (key: string) =>
  createHash('md5')
    .update(bytesOf(key))
    .digest('hex')
    .replaceAll(/..(?!$)/g, '$&:');

test('administrators look up the owner of a key, by its id and by either fingerprint', async () => {
  const { as, people } = await world();
  const key = newPublicKey();
  const added = await sent(as('guest').post('/user/keys', { title: 'laptop', key }));
  const { body: shown } = await as('admin').get(`/keys/${added.id}`);
  const { user, ...fields } = shown;
  assert.deepEqual([fields, user.id, user.is_admin], [added, people.guest.id, false]);
  for (const fingerprint of [sha256(key), `${sha256(key)}=`, md5(key), `MD5:${md5(key).toUpperCase()}`])
    assert.deepEqual((await as('admin').get('/keys', { fingerprint })).body, shown, fingerprint);
});

test('a deploy key is found by its fingerprint, with its projects', async () => {
  const { as, project, people } = await world();
  const key = newPublicKey();
  const added = await sent(
    as('maintainer').post(`/projects/${project.id}/deploy_keys`, { title: 'build', key, can_push: true }),
  );
  const { body: shown } = await as('admin').get('/keys', { fingerprint: md5(key) });
  const [place] = shown.deploy_keys_projects;
  assert.deepEqual([shown.id, shown.user.id], [added.id, people.maintainer.id]);
  assert.deepEqual(
    [place.deploy_key_id, place.project_id, place.can_push, place.created_at],
    [added.id, project.id, true, added.created_at],
  );
  const byId = await as('admin').get(`/keys/${added.id}`);
  assert.deepEqual([byId.status, byId.body], [404, { message: '404 Not found' }]);
});

test('other users find nothing, and invalid fingerprints are refused', async () => {
  const { as } = await world();
  const key = newPublicKey();
  const { id } = await sent(as('guest').post('/user/keys', { title: 'laptop', key }));
  for (const path of ['/keys', `/keys/${id}`]) {
    assert.equal((await as('anonymous').get(path, { fingerprint: sha256(key) })).status, 401);
    assert.equal((await as('guest').get(path, { fingerprint: sha256(key) })).status, 403);
  }
  const unknown = await as('admin').get('/keys', { fingerprint: md5(newPublicKey()) });
  assert.deepEqual([unknown.status, unknown.body], [404, { message: '404 Key Not Found' }]);
  for (const fingerprint of ['SHA256:short', 'aa:bb', 'x', '']) {
    const refused = await as('admin').get('/keys', { fingerprint });
    assert.deepEqual([refused.status, refused.body], [400, { message: 'Failed to return the key' }]);
  }
  assert.equal((await as('admin').get('/keys')).body.message, 'fingerprint is missing');
});

test('a key without its padding is found, and a stored text that is not a key does no harm', async () => {
  const { as, people, db } = await world();
  const key = newPublicKey();
  const short = { title: 'old', key: key.replace(/=+/, ''), user_id: people.guest.id, fingerprint_sha256: key };
  await db
    .insertInto('keys')
    .values([short, { ...short, key: 'odd %%%', fingerprint_sha256: `odd ${key}` }])
    .execute();
  assert.equal((await as('admin').get('/keys', { fingerprint: md5(key) })).body.title, 'old');
});
