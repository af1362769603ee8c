import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseDuration, printDuration } from './duration_rules.ts';

test('durations are parsed in every unit, alone and combined', () => {
  for (const [text, seconds] of [
    ['1mo', 576_000],
    ['1w', 144_000],
    ['1d', 28_800],
    ['1h', 3600],
    ['1m', 60],
    ['1s', 1],
    ['1mo 2w 3d 4h 5m 6s', 576_000 + 288_000 + 86_400 + 14_400 + 306],
    ['3d5h', 104_400],
    ['2 hours, 30 minutes', 9000],
    ['1.5h', 5400],
    ['3', 10_800],
    ['-30m', -1800],
    ['- 1h', -3600],
    ['0', 0],
    ['0h', 0],
    ['-0m', 0],
    ['1H 5M', 3900],
  ] as const)
    assert.equal(parseDuration(text), seconds, text);
});

test('invalid durations are not parsed', () => {
  for (const text of [
    '',
    ' ',
    '-',
    'h',
    'soon',
    '1x',
    '1h soon',
    '1h 2',
    '1 2',
    '--1h',
    '1h -2m',
    '1e3h',
    '99999999mo',
    'Infinity',
  ])
    assert.equal(parseDuration(text), undefined, text);
  assert.equal(parseDuration('1m '.repeat(85)), 85 * 60);
  assert.equal(parseDuration('1m '.repeat(86)), undefined);
});

test('durations are printed in weeks and smaller units, and zero as null', () => {
  assert.equal(printDuration(0), null);
  assert.equal(printDuration(576_000), '4w');
  assert.equal(printDuration(104_400), '3d 5h');
  assert.equal(printDuration(-1800), '30m');
  assert.equal(printDuration(144_000 + 57_600 + 10_800 + 240 + 5), '1w 2d 3h 4m 5s');
});

test('a printed duration is parsed back to the same value', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      (seconds) => parseDuration(printDuration(seconds)!) === seconds,
    ),
  );
});
