import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changedWords, withRanges } from './word_rules.ts';

test('the words that differ are found, unless most of them do', () => {
  assert.deepEqual(changedWords('total(items: Item[]): number', 'total(items: Item[], discounts: D[]): number'), {
    old: [],
    new: [[19, 35]],
  });
  assert.deepEqual(changedWords('const a = 1;', 'const a = 2;'), { old: [[10, 11]], new: [[10, 11]] });
  assert.equal(changedWords('const a = 1;', 'if (x) return y.z;'), undefined);
  assert.equal(changedWords('', ''), undefined);
  assert.equal(changedWords('a'.repeat(600), 'a'.repeat(601)), undefined);
});

test('marks go around words with colours, and characters that are escaped count as one', () => {
  assert.equal(
    withRanges('<span class="k">const</span> a &lt; 1;', [[2, 9]], 'ins'),
    '<span class="k">co<ins>nst</ins></span><ins> a &lt;</ins> 1;',
  );
  assert.equal(
    withRanges(
      'abc',
      [
        [0, 1],
        [2, 3],
      ],
      'del',
    ),
    '<del>a</del>b<del>c</del>',
  );
  assert.equal(withRanges('abc', [], 'del'), 'abc');
});

test('marks change no text, and cover what they should', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', ' ', '<', '&', '"', '😀', ';', '(') });
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  await fc.assert(
    fc.asyncProperty(line, line, async (one, other) => {
      const changes = changedWords(one, other);
      if (!changes) return;
      const marked = withRanges(escaped(one), changes.old, 'del');
      assert.equal(marked.replaceAll(/<\/?del>/g, ''), escaped(one));
      const inside = [...marked.matchAll(/<del>(.*?)<\/del>/gs)].map(([, text]) => text).join('');
      assert.equal(inside, escaped(changes.old.map(([from, to]) => one.slice(from, to)).join('')));
    }),
    { numRuns: 300 },
  );
});
