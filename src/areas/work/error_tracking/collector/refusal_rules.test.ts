import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusals } from './refusal_rules.ts';

test('further refusals of a client with many are delayed until ten seconds are over, and nobody else waits', () => {
  const refusals = new Refusals();
  assert.ok(refusals.areFew('192.0.2.1', 0));
  const first = Array.from({ length: 20 }, (_, second) => refusals.pauseFor('192.0.2.1', second * 400));
  assert.deepEqual(new Set(first), new Set([0]));
  assert.deepEqual([refusals.areFew('192.0.2.1', 8000), refusals.areFew('192.0.2.2', 8000)], [false, true]);
  for (const now of [8000, 9999]) {
    const pause_ms = refusals.pauseFor('192.0.2.1', now);
    assert.ok(pause_ms >= 500 && pause_ms < 1500, `${pause_ms} ms`);
  }
  assert.equal(refusals.pauseFor('192.0.2.2', 9999), 0);
  assert.equal(refusals.pauseFor('192.0.2.1', 10_000), 0);
});
