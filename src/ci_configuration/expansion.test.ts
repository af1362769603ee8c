import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { type CiVariable, ExpansionError, expand, expanded, plainValue } from './expansion.ts';

type Given = Record<string, string | Omit<CiVariable, 'key'>>;
const variablesOf = (given: Given) =>
  new Map(
    Object.entries(given).map(([key, each]) => [
      key,
      typeof each === 'string' ? { key, value: each } : { key, ...each },
    ]),
  );
const valuesOf = (given: Given) =>
  Object.fromEntries([...expanded(variablesOf(given)).values()].map((each) => [each.key, plainValue(each)]));
const braced = (key: string) => `\${${key}}`;
const textOf = (text: string, given: Given) => expand(text, expanded(variablesOf(given)));

test('references are replaced in each of the three forms, and two dollars are one', () => {
  const given = { A: 'x', B_2: 'y' };
  for (const [text, expected] of [
    ['$A-$B_2', 'x-y'],
    [`${braced('A')}B`, 'xB'],
    ['%A%%B_2%', 'xy'],
    ['$AB', ''],
    [`a${braced('MISSING')}b`, 'ab'],
    ['$$A', '$A'],
    ['$$$A', '$x'],
    ['$ ${ %A 100% $1', '$ ${ %A 100% $1'],
  ] as const)
    assert.equal(textOf(text, given), expected, text);
});

test('values are expanded in the order of need; what is not there, raw values and files stay', () => {
  assert.deepEqual(valuesOf({ C: '$B!', B: '<$A>', A: 'a', D: `$MISSING ${braced('C')}` }), {
    A: 'a',
    B: '<a>',
    C: '<a>!',
    D: '$MISSING <a>!',
  });
  assert.deepEqual(valuesOf({ R: { value: '$A $$', raw: true }, A: 'a', B: '$R' }), { R: '$A $$', A: 'a', B: '$A $$' });
  assert.deepEqual(valuesOf({ F: { value: 'secret', file: true }, B: 'cat $F' }), { F: 'secret', B: 'cat $F' });
  assert.deepEqual(valuesOf({ A: '$$B', B: '$A' }), { A: '$B', B: '$B' });
});

test('a circle is refused with the variables that are in it', () => {
  const refusalOf = (given: Given) => {
    try {
      return valuesOf(given);
    } catch (error) {
      assert.ok(error instanceof ExpansionError);
      return error.message;
    }
  };
  assert.equal(refusalOf({ A: '$B', B: '$A' }), 'circular variable reference detected: ["A", "B"]');
  assert.equal(refusalOf({ A: 'a$A' }), 'circular variable reference detected: ["A"]');
  assert.equal(
    refusalOf({ X: '$A', A: '$B', B: braced('C'), C: '%A%' }),
    'circular variable reference detected: ["A", "B", "C"]',
  );
  assert.deepEqual(refusalOf({ A: { value: '$A', raw: true }, B: '$$B' }), { A: '$A', B: '$B' });
});

test('values that double are refused, and ways of any length are followed', () => {
  const doubling: Given = { V0: 'x'.repeat(1_000) };
  for (let index = 1; index < 40; index++) doubling[`V${index}`] = `$V${index - 1}$V${index - 1}`;
  assert.throws(() => valuesOf(doubling), new ExpansionError('variables are larger than 2 MiB'));
  const way: Given = { V0: 'end' };
  for (let index = 1; index < 20_000; index++) way[`V${index}`] = `$V${index - 1}`;
  assert.equal(valuesOf(Object.fromEntries(Object.entries(way).reverse())).V19999, 'end');
});

test('the order in which variables are given changes no value', () => {
  const keys = ['A', 'B', 'C', 'D', 'E'];
  // Each may name those before it alone, so that there are no circles.
  const values = fc.tuple(
    ...keys.map((_, index) =>
      fc
        .array(fc.constantFrom('x', '$$', '$MISSING', ...keys.slice(0, index).map(braced)), {
          maxLength: 4,
        })
        .map((parts) => parts.join('')),
    ),
  );
  fc.assert(
    fc.property(values, fc.shuffledSubarray(keys, { minLength: 5 }), (all, order) => {
      const given = (names: string[]) => Object.fromEntries(names.map((key) => [key, all[keys.indexOf(key)]!]));
      assert.deepEqual(valuesOf(given(order)), valuesOf(given(keys)));
    }),
    { numRuns: runs(200, 5_000) },
  );
});
