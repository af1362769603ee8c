import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, countsOf, expanded, type Hunk, hunksOf, withoutSpaceChanges } from './hunk_rules.ts';

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

/** Lines in short, e.g. `-4 old`, `+4 new` and ` 3/3 same`. */
const short = (hunks: readonly Hunk[]) =>
  hunks.map(({ lines }) =>
    lines.map((line) =>
      line.kind === 'same'
        ? ` ${line.old}/${line.new} ${line.text}`
        : line.kind === 'removed'
          ? `-${line.old} ${line.text}`
          : `+${line.new} ${line.text}`,
    ),
  );

test('lines have their numbers on both sides', () => {
  const hunks = hunksOf(diff);
  assert.deepEqual(short(hunks), [
    [' 3/3 same', '-4 old', '+4 new'],
    ['-10 -- a line', '+10 +++ another', '+11 '],
  ]);
  assert.deepEqual(
    hunks.map(({ title }) => title),
    ['function f() {', ''],
  );
  assert.equal(hunks[0]!.lines[2]!.remark, 'No newline at end of file');
  assert.deepEqual(hunksOf(''), []);
  assert.deepEqual(hunksOf('Binary files a/x and b/x differ\n'), []);
});

test('added and removed lines are counted', () => {
  assert.deepEqual(countsOf(diff), { added: 3, removed: 2, lines: 9 });
  assert.deepEqual(countsOf(''), { added: 0, removed: 0, lines: 0 });
});

test('removed lines are in a block with the added ones in their place', () => {
  const [{ lines } = { lines: [] }] = hunksOf('@@ -1,4 +1,3 @@\n-a\n-b\n+c\n-d\n same\n+e\n');
  assert.deepEqual(
    [...blocksOf(lines)].map((block) =>
      'same' in block ? block.same.text : [block.removed.map(({ text }) => text), block.added.map(({ text }) => text)],
    ),
    [[['a', 'b'], ['c']], [['d'], []], 'same', [[], ['e']]],
  );
});

test('more lines are shown around changes, and hunks that touch become one', () => {
  const text = Array.from({ length: 30 }, (_, index) => `l${index + 1}`);
  // Line 5 of the old file was replaced by two, and line 20 is new, so that later lines are shifted by one and two.
  const hunks = hunksOf('@@ -4,3 +4,4 @@ f\n l4\n-x\n+l5\n+l6\n l7\n@@ -18,2 +19,3 @@\n l19\n+l20\n l21\n');
  assert.deepEqual(short(expanded(hunks, text, 2)), [
    [' 2/2 l2', ' 3/3 l3', ' 4/4 l4', '-5 x', '+5 l5', '+6 l6', ' 6/7 l7', ' 7/8 l8', ' 8/9 l9'],
    [' 16/17 l17', ' 17/18 l18', ' 18/19 l19', '+20 l20', ' 19/21 l21', ' 20/22 l22', ' 21/23 l23'],
  ]);
  const whole = expanded(hunks, text, 1000);
  assert.equal(whole.length, 1);
  assert.deepEqual(
    whole[0]!.lines.flatMap((line) => line.new ?? []),
    Array.from({ length: 30 }, (_, index) => index + 1),
  );
  assert.deepEqual(whole[0]!.lines.at(-1), { kind: 'same', old: 28, new: 30, text: 'l30' });
});

test('lines that differ in white space alone are the same', () => {
  const hunks = hunksOf(
    '@@ -1,4 +1,6 @@\n-if (a) b();\n-c();\n+if (a) {\n+  b();\n+}\n+  c( );\n-d\n+\td\n@@ -9 +11 @@\n-x y\n+xy\n',
  );
  assert.deepEqual(short(withoutSpaceChanges(hunks)), [
    ['-1 if (a) b();', '+1 if (a) {', '+2   b();', '+3 }', ' 2/4   c( );', ' 3/5 \td'],
  ]);
});
