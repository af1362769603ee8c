import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codesOf, linesIn, movedLines, shows } from './diff_rules.ts';

const hunks = [
  '@@ -1,3 +1,4 @@',
  ' one',
  '-two',
  '+2',
  '+@@ -9 +9 @@',
  ' three',
  '@@ -10 +11,2 @@ function f() {',
  ' ten',
  '+eleven',
  '\\ No newline at end of file',
  '',
].join('\n');

test('the lines of a diff have the numbers of the sides that have them', () => {
  assert.deepEqual(
    [...linesIn(hunks)].map(({ old_line, new_line }) => [old_line, new_line]),
    [
      [1, 1],
      [2, undefined],
      [undefined, 2],
      [undefined, 3],
      [3, 4],
      [10, 11],
      [undefined, 12],
    ],
  );
  assert.deepEqual([...linesIn('')], []);
  assert.deepEqual([...linesIn('Binary files a/x and b/x differ\n')], []);
});

test('line codes name both sides, or 0 for the one without the line', () => {
  const hash = '1d229271928d3f9e2bb0375bd6ce5db6c6d348d9';
  const codes = codesOf('test', '@@ -1,2 +1,2 @@\n one\n-two\n+2\n');
  assert.deepEqual([...codes].map((code) => code.slice(hash.length)).toSorted(), [
    '_0_2',
    '_1_1',
    '_2_0',
    '_2_2',
    '_3_2',
  ]);
});

test('a line is shown only with its numbers on both sides', () => {
  assert.ok(shows(hunks, { old_line: 3, new_line: 4 }));
  assert.ok(shows(hunks, { old_line: undefined, new_line: 12 }));
  assert.ok(!shows(hunks, { old_line: undefined, new_line: 4 }));
  assert.ok(!shows(hunks, { old_line: 2, new_line: 2 }));
  assert.ok(!shows(hunks, { old_line: 4, new_line: 5 }), 'lines between hunks are not shown');
});

test('lines are found again after a change, also between hunks, unless they were removed', () => {
  assert.deepEqual(
    [...movedLines(hunks, [20, 11, 10, 5, 3, 3, 2, 1])],
    [
      [1, 1],
      [3, 4],
      [5, 6],
      [10, 11],
      [11, 13],
      [20, 22],
    ],
  );
  assert.deepEqual([...movedLines('', [7])], [[7, 7]]);
});
