import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusals } from './refusal_rules.ts';

test('a client with many refusals waits for further ones until ten seconds are over, and nobody else does', () => {
  const refusals = new Refusals();
  const first = Array.from({ length: 20 }, (_, second) => refusals.pauseFor('192.0.2.1', second * 400));
  assert.deepEqual(new Set(first), new Set([0]));
  assert.equal(refusals.pauseFor('192.0.2.1', 8000), 1000);
  assert.equal(refusals.pauseFor('192.0.2.1', 9999), 1000);
  assert.equal(refusals.pauseFor('192.0.2.2', 9999), 0);
  assert.equal(refusals.pauseFor('192.0.2.1', 10_000), 0);
});
