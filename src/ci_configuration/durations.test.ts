import assert from 'node:assert/strict';
import { test } from 'node:test';
import { durationOf } from './durations.ts';

const [minute, hour, day] = [60, 3_600, 86_400];

test('durations are read as people write them', () => {
  const durations: Record<string, number> = {
    '30 seconds': 30,
    '3 mins 4 sec': 3 * minute + 4,
    '2 hrs 20 min': 2 * hour + 20 * minute,
    '2h20min': 2 * hour + 20 * minute,
    '6 mos 1 day': 181 * day,
    '47 yrs 6 mos and 4d': 47 * 365.25 * day + 184 * day,
    '3 weeks and 2 days': 23 * day,
    '1.5 hours': 90 * minute,
    '1 Week': 7 * day,
    '1h, 30m': 90 * minute,
    '42': 42,
    ' 7 days ': 7 * day,
  };
  assert.deepEqual(Object.fromEntries(Object.keys(durations).map((text) => [text, durationOf(text)])), durations);
});

test('other texts are no durations', () => {
  for (const text of [
    '',
    ' ',
    'soon',
    'never',
    '1',
    '-1 day',
    '1 day later',
    'and 1',
    '1 fortnight',
    'constructor',
    '5 constructor',
    `${'9'.repeat(200)}`,
  ])
    assert.equal(durationOf(text), text === '1' ? 1 : undefined, text);
});
