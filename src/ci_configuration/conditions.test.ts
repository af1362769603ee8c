import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { isTrue, parseCondition } from './conditions.ts';

const variables: Record<string, string> = {
  A: 'a',
  B: 'b',
  TEXT: 'feature/login',
  EMPTY: '',
  LINES: 'one\ntwo',
  REGEX: '/^FEATURE/i',
  NO_REGEX: '(',
};
const lookUp = (name: string) => variables[name];

const truthOf = (text: string): boolean | undefined => {
  const condition = parseCondition(text);
  return condition && isTrue(condition, lookUp);
};

test('expressions are true as the reference says', () => {
  for (const [text, expected] of [
    ['$A', true],
    ['$EMPTY', false],
    ['$NONE', false],
    ['"x"', true],
    ['null', false],
    ['$A == "a"', true],
    ["$A == 'a'", true],
    ['"a"==$A', true],
    ['$A == $B', false],
    ['$A != "a"', false],
    ['$A != "b"', true],
    // What is not defined is null, and what is empty is not.
    ['$NONE == null', true],
    ['$NONE != null', false],
    ['$EMPTY == null', false],
    ['$EMPTY == ""', true],
    ['$NONE == ""', false],
    ['$NONE == $MISSING', true],
    ['$TEXT =~ /^feature/', true],
    ['$TEXT =~ /login$/', true],
    ['$TEXT =~ /^FEATURE/', false],
    ['$TEXT =~ /^FEATURE/i', true],
    ['$TEXT =~ /feature\\/log/', true],
    ['$TEXT !~ /^feature/', false],
    ['$TEXT !~ /^main/', true],
    ['$LINES =~ /^two/', false],
    ['$LINES =~ /^two/m', true],
    ['$TEXT =~ $REGEX', true],
    ['$TEXT !~ $REGEX', false],
    ['$TEXT =~ "/login/"', true],
    // A text that is no regular expression makes everything false, and one that is not defined matches nothing.
    ['$TEXT =~ $NO_REGEX', false],
    ['$TEXT !~ $NO_REGEX', false],
    ['$TEXT =~ $NONE', false],
    ['$TEXT !~ $NONE', true],
    ['$NONE =~ /^$/', true],
    ['$NONE && $A', false],
    ['$A && $B', true],
    ['$EMPTY || $A', true],
    ['$NONE || $EMPTY', false],
    ['$A || $TEXT =~ $NO_REGEX', true],
    // `&&` binds closer than `||`, and comparisons bind closer than both.
    ['$A || $B && $NONE', true],
    ['($A || $B) && $NONE', false],
    ['$NONE && $A || $B', true],
    ['$A == "a" && $B == "b"', true],
    ['$A == "x" || $B == "b"', true],
    ['(($A == "a"))', true],
    ['($A == "a") == ($B == "b")', true],
    ['  $A\n&&\t$B  ', true],
    ['$A && $TEXT =~ /a\\/b|login/ && $B', true],
  ] as const)
    assert.equal(truthOf(text), expected, text);
});

test('texts that are no expressions are refused', () => {
  for (const text of [
    '',
    '   ',
    '$A ==',
    '== $A',
    '$A $B',
    '$A = "a"',
    '$A & $B',
    '!$A',
    'A == "a"',
    '"a',
    '\'a"',
    '($A',
    '$A)',
    '()',
    '$A && ()',
    '$A =~ /a/x',
    '$A =~ /a',
    '$A =~ /(?=a)/',
    '$A =~ /(/',
    '$A =~ //',
    'nullable',
    'true',
    '$1',
  ])
    assert.equal(truthOf(text), undefined, text);
});

test('the limits of an expression hold, and nothing is computed by recursion up to them', () => {
  const long = `"${'x'.repeat(9_998)}"`;
  assert.equal(truthOf(long), true);
  assert.equal(truthOf(`${long} `), undefined);
  const many = (operators: number) => `$A${' && $A'.repeat(operators)}`;
  assert.equal(truthOf(many(200)), true);
  assert.equal(truthOf(many(201)), undefined);
  assert.equal(truthOf(`$TEXT =~ /${'l?'.repeat(500)}/`), true);
  assert.equal(truthOf(`$TEXT =~ /${'l?'.repeat(500)}l/`), undefined);
  assert.equal(truthOf('$TEXT =~ /(.{1000}){100}/'), undefined);
  assert.equal(truthOf(`${'('.repeat(4_990)}$A${')'.repeat(4_990)}`), true);
  assert.equal(truthOf('('.repeat(9_999)), undefined);
});

/** An expression with its value, both made at once, so that the value needs no parser. */
const known: fc.Arbitrary<{ text: string; value: string | boolean | null; strength: number }> = fc.letrec<{
  any: { text: string; value: string | boolean | null; strength: number };
}>((tie) => {
  const isSome = (value: string | boolean | null) => value !== null && value !== false && value !== '';
  const inside = ({ text, strength }: { text: string; strength: number }, least: number) =>
    strength < least ? `(${text})` : text;
  const pair = fc.tuple(tie('any'), tie('any'));
  const leaf = fc.constantFrom(
    ...Object.entries({ $A: 'a', $B: 'b', $EMPTY: '', $NONE: null, null: null, '"a"': 'a', "'b'": 'b', '""': '' }),
  );
  return {
    any: fc.oneof(
      { maxDepth: 6 },
      leaf.map(([text, value]) => ({ text, value, strength: 4 })),
      fc.tuple(pair, fc.boolean()).map(([[left, right], isEqual]) => ({
        // Comparisons are computed from the left.
        text: `${inside(left, 3)} ${isEqual ? '==' : '!='} ${inside(right, 4)}`,
        value: (left.value === right.value) === isEqual,
        strength: 3,
      })),
      fc.tuple(pair, fc.constantFrom('a', 'b|^$', '.')).map(([[left], source]) => ({
        text: `${inside(left, 3)} =~ /${source}/`,
        value: new RegExp(source).test(String(left.value ?? '')),
        strength: 3,
      })),
      pair.map(([left, right]) => ({
        text: `${inside(left, 2)} && ${inside(right, 3)}`,
        value: isSome(left.value) && isSome(right.value),
        strength: 2,
      })),
      pair.map(([left, right]) => ({
        text: `${inside(left, 1)}||${inside(right, 2)}`,
        value: isSome(left.value) || isSome(right.value),
        strength: 1,
      })),
    ),
  };
}).any;

test('random expressions are what their parts say', () => {
  fc.assert(
    fc.property(known, ({ text, value }) => {
      fc.pre(text.split(/==|!=|=~|&&|\|\|/).length <= 201 && text.length <= 10_000);
      assert.equal(truthOf(text), value !== null && value !== false && value !== '', text);
    }),
    { numRuns: runs(500, 20_000) },
  );
});

test('random pieces of expressions are an expression or refused', () => {
  const pieces = fc.array(
    fc.constantFrom(
      '$A',
      '"a"',
      "'",
      '"',
      '/a/',
      '/',
      'null',
      '==',
      '=~',
      '!~',
      '&&',
      '||',
      '(',
      ')',
      ' ',
      '$',
      '\\',
      'i',
    ),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(pieces, (all) => {
      assert.ok([true, false, undefined].includes(truthOf(all.join(''))));
    }),
    { numRuns: runs(500, 20_000) },
  );
});
