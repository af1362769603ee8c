import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { slowClock, turnsDuring } from '../../test/support/turns.ts';
import { linesOf } from './lines.ts';
import { readText } from './references.ts';
import { atOnce, inSlices } from './slices.ts';
import { taskItems } from './tasks.ts';

const url = 'https://forge.example';

const referencesIn = (text: string, url: string) => atOnce(readText(text, url));

/** References as `kind path value`, with what stands in the text for each. */
const found = (text: string) =>
  referencesIn(text, url).map(({ kind, path, value, start, end }) => [
    `${kind} ${path ?? '-'} ${value}`,
    text.slice(start, end),
  ]);
const named = (text: string) => found(text).map(([name]) => name);

test('each sigil has its kind, with and without a path', () => {
  assert.deepEqual(found('#1, !2 @ann ~bug %v1.0 &3 $4.'), [
    ['issue - 1', '#1'],
    ['merge_request - 2', '!2'],
    ['user - ann', '@ann'],
    ['label - bug', '~bug'],
    ['milestone - v1.0', '%v1.0'],
    ['epic - 3', '&3'],
    ['snippet - 4', '$4'],
  ]);
  assert.deepEqual(found('see other#1, group/sub/project!2 and top/sub&3'), [
    ['issue other 1', 'other#1'],
    ['merge_request group/sub/project 2', 'group/sub/project!2'],
    ['epic top/sub 3', 'top/sub&3'],
  ]);
  assert.deepEqual(found('~"two words" %"next one" a/b~"c d" ~a::b: ~12?'), [
    ['label - two words', '~"two words"'],
    ['milestone - next one', '%"next one"'],
    ['label a/b c d', 'a/b~"c d"'],
    ['label - a::b', '~a::b'],
    ['label - 12', '~12'],
  ]);
  assert.deepEqual(found('1234567 a/b@deadbeef, 0123456789abcdef0123456789abcdef01234567.'), [
    ['commit - 1234567', '1234567'],
    ['commit a/b deadbeef', 'a/b@deadbeef'],
    ['commit - 0123456789abcdef0123456789abcdef01234567', '0123456789abcdef0123456789abcdef01234567'],
  ]);
});

test('our own addresses are references, and others contain none', () => {
  assert.deepEqual(
    named(`${url}/a/b/-/issues/1#note_5 ${url}/groups/g/h/-/epics/2 <${url}/a/b/-/merge_requests/3/diffs>`),
    ['issue a/b 1', 'epic g/h 2', 'merge_request a/b 3'],
  );
  assert.deepEqual(named(`[that](${url}/a/b/-/work_items/4) ${url}/a/b/-/commit/abcdef01`), [
    'issue a/b 4',
    'commit a/b abcdef01',
  ]);
  assert.deepEqual(
    named(
      `https://elsewhere.example/a/b/-/issues/1 https://x.example/#2 [x](#3) ${url}/a/b/-/issues/x ${url}.evil/a/b/-/issues/1`,
    ),
    [],
  );
});

test('text that only looks like a reference is none', () => {
  assert.deepEqual(
    named(
      '#12a #0x1 mail@example.com a@b.c # 1 @ ann % of &amp; &#39; &nbsp; ~~gone~~ 10% 5$ \\#1 \\@ann C# !important #',
    ),
    [],
  );
  assert.deepEqual(named('é#1 #1é'), []);
  assert.deepEqual(named('<img alt="#1" src="@ann"> <!-- @ann #2 -->'), []);
  assert.deepEqual(named('\n<!-- a template\n\n@ann #2\n-->\n#3'), ['issue - 3']);
  assert.deepEqual(
    named('fix/#1 (#2) **#3** _#4_ "#5" #6.'),
    ['1', '2', '3', '4', '5', '6'].map((iid) => `issue - ${iid}`),
  );
  assert.deepEqual(named('@ann. @ann-b, (@c.d)'), ['user - ann', 'user - ann-b', 'user - c.d']);
});

test('code is skipped, however it is written', () => {
  assert.deepEqual(named('`#1` #2 ``a ` #3`` #4 `open #5'), ['issue - 2', 'issue - 4', 'issue - 5']);
  assert.deepEqual(named('`over\nlines #1` #2'), ['issue - 2']);
  assert.deepEqual(named('`not over\n\nparagraphs #1`'), ['issue - 1']);
  assert.deepEqual(named('```\n#1\n```\n#2\n\n    #3\n\n#4'), ['issue - 2', 'issue - 4']);
  assert.deepEqual(named('> ~~~\n> #1\n\n> #2\n- a\n\n      #3\n\n  #4'), ['issue - 2', 'issue - 4']);
});

test('lines in code and quotations are recognized', () => {
  const kinds = (text: string) =>
    [...linesOf(text)].map(({ in_code, quoted }) => `${in_code ? 'code' : 'text'}${quoted ? ' quoted' : ''}`);
  assert.deepEqual(kinds('a\n> b\nlazy\n\nc\n> ```\n> d\n\te'), [
    'text',
    'text quoted',
    'text quoted',
    'text',
    'text',
    'code quoted',
    'code quoted',
    'code',
  ]);
});

const marks = [
  '`',
  '``',
  '```\n',
  '~',
  '@',
  '#1',
  '[',
  '](',
  '<',
  '<!--',
  '-->',
  '>',
  '- ',
  '1. ',
  '[ ] ',
  '    ',
  '\t',
  '\n',
  '\\',
  '"',
  '~"',
  '&',
  'a',
  '/',
  '.',
  'é',
  '😀',
  `${url}/a/-/issues/1`,
];

test('a reference is at its stated offset in any text', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...marks), fc.string({ unit: 'binary', maxLength: 5 }))), (parts) => {
      const text = parts.join('');
      let last = 0;
      for (const { start, end, value } of referencesIn(text, url)) {
        assert.ok(start >= last && end > start && end <= text.length);
        assert.ok(text.slice(start, end).includes(value));
        last = end;
      }
      const lines = [...linesOf(text)];
      assert.equal(lines.length, text.split('\n').length);
      for (const line of lines) assert.ok(text.startsWith(line.text, line.start));
    }),
    { numRuns: runs(300, 20_000) },
  );
});

// With time that grows with the square of the length any of these would take hours, and the run would be ended.
for (const mark of [...marks, '[a](', '*a_', '> - ', '- [ ] a\n', '> ', 'a@', '~a:', '<a ', '![', '`a\n'])
  test(`a million characters of ${JSON.stringify(mark)} are read`, () => {
    const text = mark.repeat(Math.ceil(1_000_000 / mark.length));
    assert.ok([...linesOf(text)].length > 0);
    assert.ok(Array.isArray(referencesIn(text, url)));
    assert.ok(Array.isArray(atOnce(taskItems(text))));
  });

test('other requests are served while a long text is read, whatever blocks its lines make', async (t) => {
  slowClock(t);
  for (const text of ['```\n', '/close\n', '> a\n', '- a\n', '    a\n'].map((line) => line.repeat(20_000))) {
    const turns = await turnsDuring(() => inSlices(readText(text, undefined)));
    assert.ok(turns >= 20_000 / 256, `${turns} turns for ${text.slice(0, 8)}`);
  }
});
