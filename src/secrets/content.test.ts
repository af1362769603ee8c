import assert from 'node:assert/strict';
import { createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { decrypted, digestWith, encrypted } from './index.ts';

test('what is encrypted is read with its key alone, and only unchanged', async () => {
  const [key, content] = [randomBytes(32), Buffer.from('{"serial":1}')];
  const stored = await encrypted(key, content);
  assert.deepEqual(await decrypted(key, stored), content);
  assert.ok(!stored.includes('serial'));
  await assert.rejects(decrypted(randomBytes(32), stored));
  stored[20]! ^= 1;
  await assert.rejects(decrypted(key, stored));
});

test('equal contents have equal digests with one key alone', async () => {
  const [key, content] = [randomBytes(32), Buffer.from('a')];
  assert.equal(await digestWith(key, content), createHmac('sha256', key).update(content).digest('hex'));
});
