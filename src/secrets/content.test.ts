import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { decrypted, encrypted } from './index.ts';

test('what is encrypted is read with its key alone, and only unchanged', () => {
  const [key, content] = [randomBytes(32), Buffer.from('{"serial":1}')];
  const stored = encrypted(key, content);
  assert.deepEqual(decrypted(key, stored), content);
  assert.ok(!stored.includes('serial'));
  assert.throws(() => decrypted(randomBytes(32), stored));
  stored[20]! ^= 1;
  assert.throws(() => decrypted(key, stored));
});
