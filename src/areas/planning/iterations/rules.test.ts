import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextSpans } from './rules.ts';

const fortnights = { start_date: '2024-01-01', duration_in_weeks: 2 };
const starts = (...given: Parameters<typeof nextSpans>) => nextSpans(...given).map(({ start_date }) => start_date);

test('spans follow each other without a gap from the first day', () => {
  assert.deepEqual(nextSpans(fortnights, undefined, 2, '2023-12-01'), [
    { start_date: '2024-01-01', due_date: '2024-01-14' },
    { start_date: '2024-01-15', due_date: '2024-01-28' },
  ]);
});

test('the iteration in progress does not count towards those in advance', () => {
  assert.deepEqual(starts(fortnights, undefined, 1, '2024-01-01'), ['2024-01-01', '2024-01-15']);
  assert.deepEqual(starts(fortnights, undefined, 1, '2024-01-14'), ['2024-01-01', '2024-01-15']);
});

test('past time is skipped in whole durations', () => {
  assert.deepEqual(starts(fortnights, undefined, 1, '2024-03-01'), ['2024-02-26', '2024-03-11']);
  assert.deepEqual(starts(fortnights, '2024-01-20', 1, '2024-03-01'), ['2024-02-18', '2024-03-03']);
});

test('new spans follow the existing ones, but never start before the first day', () => {
  assert.deepEqual(starts(fortnights, '2024-01-10', 2, '2024-01-05'), ['2024-01-11', '2024-01-25']);
  assert.deepEqual(starts(fortnights, '2023-06-01', 1, '2023-06-01'), ['2024-01-01']);
});
