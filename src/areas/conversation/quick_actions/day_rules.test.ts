import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMeant, exactDay } from './day_rules.ts';

/** A Wednesday, local time. */
const now = new Date(2031, 4, 14, 15, 30);

test('phrases are parsed as future dates', () => {
  for (const [phrase, day] of [
    ['2030-02-28', '2030-02-28'],
    ['today', '2031-05-14'],
    ['tomorrow', '2031-05-15'],
    ['in 3 days', '2031-05-17'],
    ['in 2 weeks', '2031-05-28'],
    ['next monday', '2031-05-19'],
    ['friday', '2031-05-16'],
    ['on Friday', '2031-05-16'],
    ['January 31', '2032-01-31'],
    ['31 January 2033', '2033-01-31'],
    ['Jan 31st', '2032-01-31'],
  ] as const)
    assert.equal(dayMeant(phrase, now), day, phrase);
});

test('text that is not entirely a date is not a date', () => {
  for (const phrase of [
    '',
    'soon',
    '2031-02-30',
    '2031-13-01',
    'tomorrow or so',
    '12:30',
    'in 3 hours',
    'tomorrow at 5',
    'between friday and sunday',
    'x'.repeat(500),
    '0000-01-01',
  ])
    assert.equal(dayMeant(phrase, now), undefined, phrase);
  assert.equal(exactDay('2032-02-29'), '2032-02-29');
  assert.equal(exactDay('2031-02-29'), undefined);
  assert.equal(exactDay('0050-01-01'), '0050-01-01');
});
