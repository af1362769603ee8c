import assert from 'node:assert/strict';
import { test } from 'node:test';
import { burndownOf } from './burndown_rules.ts';

const changed = (day: string, action: 'created' | 'closed' | 'reopened') => ({
  created_at: `2030-05-${day}T12:00:00.000Z`,
  action,
});

test('each day counts what was open at its end, with what came before the first day', () => {
  const changes = [
    changed('01', 'created'),
    changed('02', 'created'),
    changed('03', 'closed'),
    changed('04', 'reopened'),
  ];
  const days = burndownOf(changes, { first: '2030-05-02', last: '2030-05-05', today: '2030-06-01' });
  assert.deepEqual(
    days.map(({ day, open }) => [day.slice(-2), open]),
    [
      ['02', 2],
      ['03', 1],
      ['04', 2],
      ['05', 2],
    ],
  );
});

test('it ends today, and a long time is cut off', () => {
  assert.equal(burndownOf([], { first: '2030-05-02', last: '2030-05-20', today: '2030-05-03' }).length, 2);
  assert.equal(burndownOf([], { first: '2030-05-02', last: '2020-05-20', today: '2030-05-03' }).length, 0);
  assert.equal(burndownOf([], { first: '0001-01-01', last: '9999-05-20', today: '2030-05-03' }).length, 400);
});
