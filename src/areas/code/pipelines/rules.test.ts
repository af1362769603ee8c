import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overallStatus } from './rules.ts';

test('several statuses combine into one', () => {
  for (const [statuses, word] of [
    [[], null],
    [['skipped'], 'skipped'],
    [['success', 'skipped'], 'success'],
    [['canceled', 'success'], 'canceled'],
    [['pending', 'skipped'], 'pending'],
    [['pending', 'success'], 'running'],
    [['running', 'failed'], 'running'],
    [['failed', 'canceled', 'success'], 'failed'],
  ] as const)
    assert.equal(overallStatus(statuses), word, statuses.join());
});
