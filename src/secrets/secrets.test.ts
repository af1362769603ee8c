import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { keyInFile, SecretKeyError, secretsFrom } from './index.ts';

const secrets = secretsFrom('k'.repeat(32));

test('a sealed value can be read only unchanged, with the same key and for the same purpose', () => {
  const sealed = secrets.seal('cluster token', 'swordfish ✓');
  assert.equal(secretsFrom('k'.repeat(32)).unseal('cluster token', sealed), 'swordfish ✓');
  assert.ok(!sealed.includes('swordfish'));
  assert.notDeepEqual(secrets.seal('cluster token', 'swordfish ✓'), sealed);
  assert.equal(secrets.unseal('variable value', sealed), undefined);
  assert.equal(secretsFrom('l'.repeat(32)).unseal('cluster token', sealed), undefined);
  for (const place of [0, 12, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[place]! ^= 1;
    assert.equal(secrets.unseal('cluster token', changed), undefined);
  }
  assert.equal(secrets.unseal('cluster token', sealed.subarray(0, 20)), undefined);
});

test('a link can be verified back to its seed, and cannot be forged without the key', () => {
  const seed = randomUUID();
  const token = secrets.linkToken('confirmation', seed);
  assert.match(token, /^[\w-]{43}$/);
  assert.equal(secrets.seedOfLink('confirmation', token), seed);
  assert.equal(secrets.seedOfLink('invitation', token), undefined);
  assert.equal(secretsFrom('l'.repeat(32)).seedOfLink('confirmation', token), undefined);
  const last = token.at(-2) === 'A' ? 'B' : 'A';
  for (const wrong of ['', 'x', `${token}A`, `${token.slice(0, -2)}${last}${token.at(-1)}`, `${token} `])
    assert.equal(secrets.seedOfLink('confirmation', wrong), undefined);
});

test('the key is created once, readable only by its owner, and an invalid one is refused', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-secrets-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'data', 'secret.key');
  const key = keyInFile(file);
  assert.equal(keyInFile(file), key);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(path.dirname(file)), ['secret.key']);
  await writeFile(file, 'short');
  assert.throws(() => keyInFile(file), SecretKeyError);
  assert.throws(() => keyInFile(path.join(file, 'below')), SecretKeyError);
});
