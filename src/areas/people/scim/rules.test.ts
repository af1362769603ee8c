import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterIn, patchIn, provisionedIn, rangeIn, ScimError } from './rules.ts';

const refusal = (work: () => unknown) => {
  try {
    return work();
  } catch (error) {
    assert.ok(error instanceof ScimError);
    return [error.status, error.kind];
  }
};

test('a filter is one comparison by eq', () => {
  const accepted = {
    'id eq "a"': { by: 'uid', value: 'a' },
    'externalId EQ "a b"': { by: 'uid', value: 'a b' },
    ' USERNAME eq "\\"q\\u00e9\\\\" ': { by: 'username', value: '"qé\\' },
    'emails.value Eq "a@example.com"': { by: 'email', value: 'a@example.com' },
  };
  for (const [text, filter] of Object.entries(accepted)) assert.deepEqual(filterIn(text), filter);
  for (const text of [
    ...['', 'id', 'id eq', 'id eq a', 'id ne "a"', 'id eq "a" or id eq "b"', 'name.formatted eq "a"'],
    ...[
      'id eq "a',
      'id eq "\\u0000"',
      'id eq "\\ud800"',
      'id eq "\\x"',
      'constructor eq "a"',
      `id eq "${'\\'.repeat(9999)}`,
    ],
  ])
    assert.deepEqual(
      refusal(() => filterIn(text)),
      [400, 'invalidFilter'],
      text,
    );
});

test('a patch is read in the forms of different providers, and unknown attributes have no effect', () => {
  const patch = (...Operations: unknown[]) => patchIn({ Operations });
  for (const operation of [
    { op: 'Replace', path: 'active', value: 'False' },
    { op: 'replace', path: 'active', value: false },
    { op: 'ADD', path: 'Active', value: { active: 'false' } },
    { op: 'replace', value: { active: false } },
    { op: 'replace', value: { ACTIVE: 'FALSE', displayName: 'Ada' } },
  ])
    assert.deepEqual(patch(operation), { active: false });
  assert.deepEqual(patch({ op: 'add', path: 'externalId', value: 'x' }, { op: 'replace', value: { active: true } }), {
    uid: 'x',
    active: true,
  });
  assert.deepEqual(patch({ op: 'replace', path: 'name.formatted', value: 'x' }, { op: 'remove', path: 'title' }), {});
  assert.deepEqual(patchIn({ operations: [{ OP: 'replace', PATH: 'id', VALUE: 'x' }] }), { uid: 'x' });
  for (const [operations, kind] of [
    [[], 'invalidSyntax'],
    ['replace', 'invalidSyntax'],
    [[null], 'invalidSyntax'],
    [[{ op: 'move', path: 'active' }], 'invalidSyntax'],
    [[{ op: 'replace', path: 'active', value: 'perhaps' }], 'invalidValue'],
    [[{ op: 'replace', path: 'active', value: null }], 'invalidValue'],
    [[{ op: 'replace', path: 'id', value: ['x'] }], 'invalidValue'],
    [[{ op: 'replace', path: 'id', value: 'x'.repeat(256) }], 'invalidValue'],
    [[{ op: 'replace', path: 'id', value: 'x\0' }], 'invalidValue'],
    [[{ op: 'replace', value: 'x' }], 'invalidValue'],
  ])
    assert.deepEqual(
      refusal(() => patchIn({ Operations: operations })),
      [400, kind],
      JSON.stringify(operations),
    );
});

test('an account needs a uid, a username, an address and a name', () => {
  const given = {
    externalId: 'x',
    userName: 'ada',
    emails: [{ value: 'b@example.com' }, { value: 'a@example.com', primary: true }],
    name: { givenName: 'Ada', familyName: 'Lovelace' },
  };
  const account = { uid: 'x', username: 'ada', email: 'a@example.com', name: 'Ada Lovelace', active: true };
  assert.deepEqual(provisionedIn(given), account);
  assert.deepEqual(provisionedIn({ ...given, name: { formatted: 'A' }, active: 'False' }), {
    ...account,
    name: 'A',
    active: false,
  });
  for (const name of Object.keys(given))
    for (const value of [undefined, null, '', 7, [], {}, [{}], [null], { formatted: 7 }, { value: '\ud800' }])
      assert.deepEqual(
        refusal(() => provisionedIn({ ...given, [name]: value })),
        [400, 'invalidValue'],
        name,
      );
});

test('a part of the list begins at 1, and has at most 100 accounts', () => {
  assert.deepEqual(rangeIn({}), { start: 1, count: 100 });
  assert.deepEqual(rangeIn({ startIndex: '-7', count: '-1' }), { start: 1, count: 0 });
  assert.deepEqual(rangeIn({ startIndex: '3', count: '1000' }), { start: 3, count: 100 });
  for (const text of ['x', '1.5', '1e3', '', '9'.repeat(20), ['1']])
    assert.deepEqual(
      refusal(() => rangeIn({ count: text })),
      [400, 'invalidValue'],
    );
});
