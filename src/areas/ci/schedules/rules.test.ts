import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextRun } from './rules.ts';

const now = new Date('2026-03-28T10:02:30.500Z');
const at = (cron: string, last_run_at: string | null = null, cron_timezone = 'UTC') =>
  nextRun({ cron, cron_timezone, last_run_at }, now);

test('the next time is the first one that the line names after now, in its time zone', () => {
  assert.equal(at('* * * * *'), '2026-03-28T10:03:00.000Z');
  assert.equal(at('0 1 * * *'), '2026-03-29T01:00:00.000Z');
  assert.equal(at('30 3 * * *', null, 'Berlin'), '2026-03-29T01:30:00.000Z');
});

test('the next time is five minutes after the last one at least', () => {
  assert.equal(at('* * * * *', '2026-03-28T10:02:00Z'), '2026-03-28T10:07:00.000Z');
  assert.equal(at('*/5 * * * *', '2026-03-28T10:00:00Z'), '2026-03-28T10:05:00.000Z');
});

test('a schedule that was missed is due once', () => {
  assert.equal(at('0 * * * *', '2026-03-27T01:00:00Z'), '2026-03-28T11:00:00.000Z');
});

test('a line that never occurs, and a time zone that is not known, have no next time', () => {
  assert.equal(at('0 0 31 2 *'), null);
  assert.equal(at('0 0 * * *', null, 'Nowhere/At_All'), null);
});
