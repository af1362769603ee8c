// Runs in a process of its own: elsewhere tests have made passwords cheap.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPassword, passwordCost, passwordDigest } from './passwords.ts';

test('a password costs what makes guessing slow, and is recognized in every form of its letters', async () => {
  assert.deepEqual([passwordCost.N, passwordCost.r, passwordCost.p], [32_768, 8, 3]);
  const kept = await passwordDigest('caf\u00e9 au lait');
  assert.ok(await isPassword('cafe\u0301 au lait', kept));
  assert.ok(!(await isPassword('cafe au lait', kept)));
  assert.notEqual(await passwordDigest('caf\u00e9 au lait'), kept);
});
