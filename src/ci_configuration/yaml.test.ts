import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Invalid, plainOf } from './values.ts';
import { readYaml } from './yaml.ts';

const json = (source: string) => JSON.stringify(readYaml(source).documents.map(({ value }) => plainOf(value)));

/** The error of a text; a text without one fails. */
function refusal(source: string): string {
  try {
    readYaml(source);
  } catch (error) {
    if (error instanceof Invalid) return error.message;
    throw error;
  }
  return assert.fail(`${source.slice(0, 100)} was read`);
}

test('plain scalars are those of YAML 1.2', () => {
  assert.equal(
    json('[yes, on, true, False, ~, 010, 0o10, 0x1f, 1.10, 2024-01-01, "1", 12:30]'),
    '[["yes","on",true,false,null,10,8,31,1.1,"2024-01-01","1","12:30"]]',
  );
});

test('keys mean nothing but themselves, and stay in their order', () => {
  assert.equal(
    json('10: a\n2: b\n__proto__: {x: 1}\nconstructor: c'),
    '[{"2":"b","10":"a","__proto__":{"x":1},"constructor":"c"}]',
  );
  const { documents } = readYaml('10: a\n2: b\n"3": c\ntrue: d\n__proto__: {1: x}');
  assert.deepEqual(
    [...(documents[0]!.value as ReadonlyMap<string, unknown>).keys()],
    ['10', '2', '3', 'true', '__proto__'],
  );
  assert.deepEqual([...documents[0]!.odd_keys], ['10', '2', 'true']);
});

test('the merge key adds what is not there', () => {
  assert.equal(
    json('a: &a {x: 1, y: 2}\nb: {x: 3, <<: *a}\nc: {<<: *a, x: 4}'),
    '[{"a":{"x":1,"y":2},"b":{"x":3,"y":2},"c":{"x":4,"y":2}}]',
  );
  assert.equal(
    json('a: &a {x: 1}\nb: &b {x: 2, y: 3}\nc:\n  <<: [*a, *b]'),
    '[{"a":{"x":1},"b":{"x":2,"y":3},"c":{"x":1,"y":3}}]',
  );
  assert.equal(json('"<<": text'), '[{"<<":"text"}]');
  assert.equal(
    refusal('a: 1\nb:\n  <<: text'),
    '(<unknown>): the value of a merge key is not a mapping at line 3 column 3',
  );
});

test('a key that is there twice has its last value', () => {
  const { documents, doubled } = readYaml('a: 1\nb: &b {c: 1, c: 2}\na: 3\nd: {<<: *b, c: 4}');
  assert.equal(JSON.stringify(plainOf(documents[0]!.value)), '{"a":3,"b":{"c":2},"d":{"c":4}}');
  assert.deepEqual([...doubled], ['c', 'a']);
});

test('errors say where they are', () => {
  assert.match(refusal('a: 1\nb: [1'), /^\(<unknown>\): .+ at line 2 column 6$/);
  assert.equal(refusal('a: *b'), 'Unknown alias: b');
  assert.equal(refusal('a: &a [*a]'), 'Unknown alias: a');
  assert.equal(
    refusal('a: 1\nb: !ruby/object:Gem::Installer {}'),
    '(<unknown>): Tried to load unspecified class: !ruby/object:Gem::Installer at line 2 column 4',
  );
  assert.match(refusal('a: !!python/name x'), /^\(<unknown>\): Tried to load unspecified class/);
  assert.match(refusal('a: !!str 1'), /^\(<unknown>\): Tried to load unspecified class/);
  assert.equal(refusal('? [a]\n: b'), '(<unknown>): a key of a mapping is not a text');
});

test('files that explode are refused quickly', () => {
  const doubling = Array.from({ length: 30 }, (_, n) => `a${n}: &a${n} [${n ? `*a${n - 1}, *a${n - 1}` : 'x, x'}]`);
  const merging = Array.from(
    { length: 30 },
    (_, n) => `m${n}: &m${n} {<<: [${n ? `*m${n - 1}, *m${n - 1}` : '{a: [x]}'}], b${n}: ${n ? `*m${n - 1}` : 1}}`,
  );
  for (const source of [
    doubling.join('\n'),
    merging.join('\n'),
    `${'['.repeat(101)}${']'.repeat(101)}`,
    `${'['.repeat(500_000)}`,
    `a: &a ${'['.repeat(60)}${']'.repeat(60)}\nb: ${'['.repeat(60)}*a${']'.repeat(60)}`,
    `a: "${'x'.repeat(2 * 1024 * 1024)}"`,
    `[${'1,'.repeat(1_000_001)}]`,
  ])
    assert.equal(refusal(source), 'The parsed YAML is too big', source.slice(0, 40));
  assert.ok(readYaml(`${'['.repeat(100)}${']'.repeat(100)}`));
});
