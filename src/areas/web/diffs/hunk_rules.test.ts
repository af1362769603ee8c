import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countsOf, linesOfDiff } from './hunk_rules.ts';

const diff = `@@ -3,3 +3,3 @@ function f() {
 same
-old
+new
\\ No newline at end of file
@@ -10 +10,2 @@
--- a line
++++ another
+
`;

test('lines have their numbers on both sides', () => {
  assert.deepEqual(
    [...linesOfDiff(diff)].map((line) =>
      'old' in line ? [line.kind, line.old, line.new, line.text] : [line.kind, line.text],
    ),
    [
      ['hunk', '@@ -3,3 +3,3 @@ function f() {'],
      ['same', 3, 3, 'same'],
      ['removed', 4, undefined, 'old'],
      ['added', undefined, 4, 'new'],
      ['remark', 'No newline at end of file'],
      ['hunk', '@@ -10 +10,2 @@'],
      ['removed', 10, undefined, '-- a line'],
      ['added', undefined, 10, '+++ another'],
      ['added', undefined, 11, ''],
    ],
  );
});

test('added and removed lines are counted', () => {
  assert.deepEqual(countsOf(diff), { added: 3, removed: 2, lines: 9 });
  assert.deepEqual(countsOf(''), { added: 0, removed: 0, lines: 0 });
});
