import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TProperties, Type } from 'typebox';
import { ApiError } from './errors.ts';
import { readForm, type Values } from './form.ts';
import { atLeastOneOf, exactlyOneOf, inputReader, mutuallyExclusive, type Rule } from './input.ts';
import {
  AnyText,
  ClearableList,
  CommaList,
  checked,
  DateOnly,
  Id,
  IdOrName,
  Iid,
  longText,
  NotBlank,
  nullable,
  refusedAs,
  required,
  since,
  Timestamp,
} from './types.ts';

const read = (input: TProperties, raw: Values, rules: Rule[] = []) => inputReader({ input, rules })(raw, 'ultimate');

function refusal(input: TProperties, raw: Values, rules: Rule[] = []): unknown {
  try {
    return assert.fail(`was read as ${JSON.stringify(read(input, raw, rules))}`);
  } catch (error) {
    if (error instanceof ApiError) return (error.body as { message: unknown }).message;
    throw error;
  }
}

test('forms nest as the clients write them', () => {
  const cases: [string, unknown][] = [
    ['a=1&b=', { a: '1', b: '' }],
    ['', {}],
    ['a', { a: '' }],
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a%5B%5D=1', { a: ['1'] }],
    ['not[labels]=x&not[iids][]=3', { not: { labels: 'x', iids: ['3'] } }],
    ['f[][p]=a&f[][c]=b&f[][p]=c', { f: [{ p: 'a', c: 'b' }, { p: 'c' }] }],
    ['f[0][p]=a&f[1][p]=b', { f: { 0: { p: 'a' }, 1: { p: 'b' } } }],
    ['f[][k][x]=1&f[][k][y]=2', { f: [{ k: { x: '1', y: '2' } }] }],
    ['a+b=c+d%2B', { 'a b': 'c d+' }],
    ['[x]=1&a[=2&a]=3', { '[x]': '1', 'a[': '2', 'a]': '3' }],
    ['__proto__[admin]=1', JSON.parse('{"__proto__":{"admin":"1"}}')],
  ];
  for (const [text, expected] of cases) assert.equal(JSON.stringify(readForm(text)), JSON.stringify(expected), text);
  assert.throws(() => readForm('a=%zz'), ApiError);
  assert.throws(() => readForm(`a${'[b]'.repeat(50)}=1`), ApiError);
  assert.throws(() => readForm('a=1&'.repeat(5000)), ApiError);
});

test('a repeated plain name is a list if the schema wants one, and otherwise its last value', () => {
  const values = readForm('ids=1&ids=2&name=a&name=b');
  assert.deepEqual(read({ ids: Type.Array(Type.Integer()), name: Type.String() }, values), { ids: [1, 2], name: 'b' });
});

test('text is converted to numbers and booleans, and to nothing else', () => {
  const input = { n: Type.Optional(Type.Integer()), b: Type.Optional(Type.Boolean()), x: Type.Optional(Type.Number()) };
  assert.deepEqual(read(input, { n: '12', b: 'True', x: '1.5' }), { n: 12, b: true, x: 1.5 });
  assert.deepEqual(read(input, { n: '-3', b: 'off' }), { n: -3, b: false });
  assert.deepEqual(read(input, { n: 7, b: 0 }), { n: 7, b: false });
  for (const n of ['1.5', 'abc', '0x10', '1e3', {}, [1], true, 1.5, '99999999999999999999'])
    assert.equal(refusal(input, { n }), 'n is invalid');
  // What query strings become has no prototype, and so no text that it turns into.
  for (const b of ['maybe', 2, {}, ['true'], readForm('b[x]=1').b]) assert.equal(refusal(input, { b }), 'b is invalid');
});

test('an id beyond the range of its column is one that no row has', () => {
  const input = { id: Id, iids: CommaList(Iid), namespace: IdOrName('ID or full path') };
  for (const huge of ['9223372036854775807', '99999999999999999999', 2 ** 63, '-9223372036854775809', '1'.repeat(400)])
    assert.deepEqual(read(input, { id: huge, iids: [huge, 5], namespace: huge }), {
      id: -1,
      iids: [-1, 5],
      namespace: -1,
    });
  assert.deepEqual(read(input, { id: '7', iids: '2147483648', namespace: 'orchard/7' }), {
    id: 7,
    iids: [-1],
    namespace: 'orchard/7',
  });
  for (const id of ['7a', '1.5', {}, [7], 'NaN']) assert.equal(refusal({ id: Id }, { id }), 'id is invalid');
});

test('null in a list is skipped', () => {
  assert.equal(refusal({ labels: CommaList(Type.String()) }, { labels: ['a', null] }), 'labels is invalid');
});

test('null and empty text clear nullable parameters, and count as omitted for others', () => {
  const input = {
    weight: Type.Optional(nullable(Type.Integer())),
    note: Type.Optional(nullable(Type.String())),
    page: Type.Integer({ default: 1 }),
  };
  assert.deepEqual(read(input, { weight: null, note: null, page: null }), { weight: null, note: null, page: 1 });
  assert.deepEqual(read(input, { weight: '', note: '', page: '' }), { weight: null, note: '', page: 1 });
  assert.deepEqual(read({ start_branch: Type.Optional(Type.String()) }, { start_branch: null }), {});
  assert.deepEqual(read(input, {}), { page: 1 });
});

test('all errors are reported at once, in the order of declaration', () => {
  const input = {
    branch: NotBlank(),
    count: Type.Integer(),
    kind: Type.Enum(['a', 'b']),
    ref: NotBlank(),
    when: Timestamp,
  };
  assert.equal(
    refusal(input, { count: 'x', kind: 'c', ref: ' ', when: 'soon' }),
    'branch is missing, branch is empty, count is invalid, kind does not have a valid value, ref is empty, when is invalid',
  );
});

test('values with rules of their own are reported by field, after the parameters', () => {
  const input = {
    start: checked(Type.String(), (text) => (text === 'x' ? ['is odd'] : [])),
    count: Type.Optional(Type.Integer()),
  };
  assert.deepEqual(refusal(input, { start: 'x' }), { start: ['is odd'] });
  assert.equal(refusal(input, { start: 'x', count: 'y' }), 'count is invalid');
});

test('lists come as lists, as numbered hashes, as comma-separated text or as one value', () => {
  const input = { labels: Type.Optional(CommaList(Type.String())), ids: Type.Optional(Type.Array(Type.Integer())) };
  assert.deepEqual(read(input, { labels: 'a, b,,c' }), { labels: ['a', 'b', 'c'] });
  assert.deepEqual(read(input, { labels: ['a,b', 'c'], ids: ['1', 2] }), { labels: ['a', 'b', 'c'], ids: [1, 2] });
  assert.deepEqual(read(input, { ids: { 0: '5', 1: '6' } }), { ids: [5, 6] });
  assert.deepEqual(read(input, { ids: '5' }), { ids: [5] });
  assert.deepEqual(read(input, { ids: '', labels: '' }), { ids: [], labels: [] });
  const clearable = { labels: Type.Optional(ClearableList(Type.String())) };
  assert.deepEqual(read(clearable, { labels: null }), { labels: [] });
  assert.deepEqual(read(clearable, { labels: 'a,b' }), { labels: ['a', 'b'] });
  assert.deepEqual(read(clearable, {}), {});
  assert.deepEqual(read(input, { labels: null }), {}, 'a list that nothing clears');
  assert.equal(refusal(input, { ids: { a: 1 } }), 'ids is invalid');
  assert.equal(refusal(input, { ids: [1, 'x'] }), 'ids is invalid');
});

test('members of hashes and of lists of hashes are named by their path', () => {
  const position = Type.Object({ base_sha: Type.String(), line: Type.Optional(Type.Integer()) });
  const input = {
    position: Type.Optional(position),
    entities: Type.Optional(Type.Array(Type.Object({ source_type: Type.String() }))),
  };
  assert.equal(refusal(input, { position: { line: 'x' } }), 'position[base_sha] is missing, position[line] is invalid');
  assert.equal(refusal(input, { entities: [{ source_type: 'a' }, {}] }), 'entities[1][source_type] is missing');
  assert.equal(refusal(input, { position: 'x' }), 'position is invalid');
});

test('rules over several parameters come last', () => {
  const input = { a: Type.Optional(Type.Integer()), b: Type.Optional(Type.Integer()) };
  assert.equal(refusal(input, { a: 1, b: 2 }, [mutuallyExclusive('a', 'b')]), 'a, b are mutually exclusive');
  assert.equal(
    refusal(input, {}, [atLeastOneOf('a', 'b')]),
    'a, b are missing, at least one parameter must be provided',
  );
  assert.equal(
    refusal(input, {}, [exactlyOneOf('a', 'b')]),
    'a, b are missing, exactly one parameter must be provided',
  );
  assert.equal(refusal(input, { a: 1, b: 2 }, [exactlyOneOf('a', 'b')]), 'a, b are mutually exclusive');
});

test('dates and times are read in every ISO form and must exist', () => {
  const input = { day: Type.Optional(DateOnly), at: Type.Optional(Timestamp) };
  assert.deepEqual(read(input, { day: '2024-02-29' }), { day: '2024-02-29' });
  assert.deepEqual(read(input, { day: '2024-02-29T10:00:00Z' }), { day: '2024-02-29' });
  assert.deepEqual(read(input, { at: '2024-01-02' }), { at: '2024-01-02T00:00:00.000Z' });
  assert.deepEqual(read(input, { at: '2024-01-02T03:04:05+02:00' }), { at: '2024-01-02T01:04:05.000Z' });
  assert.deepEqual(read(input, { at: '2024-01-02 03:04:05.5' }), { at: '2024-01-02T03:04:05.500Z' });
  for (const day of ['2023-02-29', '2024-13-01', 'x', '20240101', '0000-01-01'])
    assert.equal(refusal(input, { day }), 'day is invalid');
  for (const at of ['2024-01-02T25:00', '2024-02-30T00:00:00Z', 'yesterday', '1'])
    assert.equal(refusal(input, { at }), 'at is invalid');
});

test('text that the database cannot hold is refused, except where it is content', () => {
  assert.equal(refusal({ name: Type.String() }, { name: 'a\0b' }), 'name is invalid');
  assert.equal(refusal({ name: Type.String() }, { name: '\ud800' }), 'name is invalid');
  assert.equal(refusal({ name: Type.String() }, { name: { a: 1 } }), 'name is invalid');
  assert.deepEqual(read({ content: AnyText() }, { content: 'a\0b' }), { content: 'a\0b' });
});

test('the rule of a list does not see unreadable items', () => {
  const topics = checked(Type.Array(Type.String()), (given) =>
    given.some((topic) => topic.length > 3) ? ['is too long'] : [],
  );
  assert.equal(refusal({ topics }, { topics: ['a', {}] }), 'topics is invalid');
  assert.deepEqual(refusal({ topics }, { topics: ['a', 'long'] }), { topics: ['is too long'] });
});

test('an unreadable parameter still counts as given', () => {
  const input = { name: Type.Optional(Type.String()), path: Type.Optional(Type.String()) };
  assert.equal(refusal(input, { name: {} }, [atLeastOneOf('name', 'path')]), 'name is invalid');
  assert.equal(
    refusal(input, { name: {}, path: 'x' }, [mutuallyExclusive('name', 'path')]),
    'name is invalid, name, path are mutually exclusive',
  );
});

test('a schema can have its own refusal text, and lengths have theirs', () => {
  assert.equal(
    refusal({ id: refusedAs("should be an integer, 'None' or 'Any'", Type.Integer()) }, { id: 'x' }),
    "id should be an integer, 'None' or 'Any'",
  );
  assert.equal(
    refusal({ a: Type.String({ maxLength: 3 }) }, { a: 'abcd' }),
    'a is expected to have length less than or equal to 3',
  );
  assert.equal(
    refusal({ a: Type.String({ minLength: 1, maxLength: 3 }) }, { a: '' }),
    'a is expected to have length within 1 and 3',
  );
});

test('a parameter above the plan is ignored, and undeclared ones too', () => {
  const input = { weight: Type.Optional(since('premium', Type.Integer())), title: Type.Optional(Type.String()) };
  const reader = inputReader({ input });
  assert.deepEqual(reader({ weight: 'x', title: 'a', other: 1 }, 'free'), { title: 'a' });
  assert.deepEqual(reader({ weight: '3' }, 'premium'), { weight: 3 });
});

test('a parameter with the v4 wording for required is refused when omitted, blank or empty', () => {
  const Step = Type.Object({ kind: required(Type.Enum(['a', 'b'])), path: required(Type.String()) });
  const input = { branch: required(Type.String()), steps: refusedAs('must be an array', required(Type.Array(Step))) };
  assert.equal(refusal(input, {}), 'branch is required, steps is required');
  assert.equal(refusal(input, { branch: ' ', steps: [] }), 'branch is required, steps is required');
  assert.equal(
    refusal(input, { branch: 'main', steps: [{ path: '' }] }),
    'steps[0][kind] is required, steps[0][path] is required',
  );
  assert.equal(refusal(input, { branch: 'main', steps: { a: 1 } }), 'steps must be an array');
  const steps = [{ kind: 'a', path: 'x' }];
  assert.deepEqual(read(input, { branch: 'main', steps }), { branch: 'main', steps });
});

test('the required members of a missing hash are reported too', () => {
  const Platform = Type.Object({ api_url: Type.String(), token: Type.String(), ca_cert: Type.Optional(Type.String()) });
  assert.equal(
    refusal({ platform: Platform }, {}),
    'platform is missing, platform[api_url] is missing, platform[token] is missing',
  );
  assert.equal(refusal({ platform: Platform }, { platform: { token: 'x' } }), 'platform[api_url] is missing');
  assert.deepEqual(read({ platform: Type.Optional(Platform) }, {}), {});
});

test('texts, lists and hashes that declare no limit have the usual one', () => {
  const input = {
    text: Type.Optional(Type.String()),
    long: Type.Optional(longText(nullable(Type.String()))),
    list: Type.Optional(CommaList(Type.String())),
    three: Type.Optional(Type.Array(Type.Integer(), { maxItems: 3 })),
    hash: Type.Optional(Type.Record(Type.String(), Type.String())),
  };
  const read = inputReader({ input });
  const refusal = (raw: object) => {
    try {
      read(raw as never, 'free');
    } catch (error) {
      return (error as { body: { message: string } }).body.message;
    }
    return undefined;
  };
  assert.equal(
    refusal({ text: 'x'.repeat(100_000), long: 'x'.repeat(100_001), list: 'a,'.repeat(1000), three: [1, 2, 3] }),
    undefined,
  );
  assert.equal(refusal({ text: 'x'.repeat(100_001) }), 'text is expected to have length less than or equal to 100000');
  assert.equal(refusal({ list: 'a,'.repeat(1001) }), 'list has more than 1000 elements');
  assert.equal(refusal({ list: Array(1001).fill('a') }), 'list has more than 1000 elements');
  assert.equal(refusal({ three: [1, 2, 3, 4] }), 'three has more than 3 elements');
  assert.equal(
    refusal({ hash: Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`k${i}`, ''])) }),
    'hash has more than 1000 elements',
  );
});
