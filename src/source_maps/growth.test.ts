// Runs in a process of its own: it measures processor time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growsTooFast, hostileUnits } from '../../test/support/growth.ts';
import { mapped } from './maps.ts';

const base = { version: 3, sources: ['a'], names: ['b'], mappings: 'AAAAA' };

/** Source maps with a text in each place that is looked at closely. */
const places: ((hostile: string) => string)[] = [
  (text) => text,
  (text) => `)]}'${text}`,
  ...['mappings', 'sourceRoot', 'file'].map((member) => (text: string) => JSON.stringify({ ...base, [member]: text })),
  (text) => JSON.stringify({ ...base, sources: [text], sourcesContent: [text] }),
  (text) => JSON.stringify({ ...base, names: [text] }),
];

const listOf = <T>(count: number, item: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => item(index));

/** Maps of many parts. */
const lists: ((count: number) => object)[] = [
  (count) => ({ ...base, sources: listOf(count, String), sourcesContent: listOf(count, String) }),
  (count) => ({ ...base, sources: listOf(count, () => '../a') }),
  (count) => ({ version: 3, sections: listOf(count, (line) => ({ offset: { line, column: 0 }, map: base })) }),
  (count) => ({ version: 3, sections: listOf(count, (column) => ({ offset: { line: 0, column }, map: base })) }),
];

const read = (json: string) =>
  mapped({ bytes: Uint8Array.from(Buffer.from(json)), is_deflated: false, positions: [[1, 1]] });

test('twice the source map takes no more than about twice the time', () => {
  for (const [index, place] of places.entries())
    for (const unit of [...hostileUnits, 'A', 'AAAA,', 'AAAA;', 'A;A,', 'g', '////', '../'])
      assert.ok(
        !growsTooFast((count) => void read(place(unit.repeat(count)))),
        `place ${index}: ${JSON.stringify(unit)} repeated`,
      );
  for (const [index, list] of lists.entries())
    assert.ok(!growsTooFast((count) => void read(JSON.stringify(list(count)))), `list ${index}`);
});

test('a map with damaged mappings tells nothing, instead of positions that do not exist', () => {
  const map = (mappings: string, more: object = {}) =>
    JSON.stringify({ ...base, sources: ['a'], names: ['n'], mappings, ...more });
  for (const whole of ['', ';', 'AAAA', 'AAAAA,CAAA;A', 'gggggAAAA'])
    assert.notEqual(read(map(whole)), undefined, whole);
  const damaged = [
    'AA',
    'AAA',
    'AAAAAA',
    'AACA!',
    'ACAA',
    'ADAA',
    'AADA',
    'AAAD',
    'D',
    'AAAAC',
    'g',
    'gggggggA',
    'AAAA,AÄ',
  ];
  for (const mappings of damaged) assert.equal(read(map(mappings)), undefined, mappings);
  assert.equal(read(map('AAAA', { sources: [] })), undefined);
  const sections = [{ offset: { line: 0, column: 0 }, map: JSON.parse(map('ACAA')) }];
  assert.equal(read(JSON.stringify({ version: 3, sections })), undefined);
});

test('a map of few bytes that stands for millions of lines, or repeats a long text, is not read', () => {
  const lines = (count: number) => JSON.stringify({ ...base, mappings: `${';'.repeat(count)}AAAAA` });
  assert.deepEqual(read(lines(10)), [null]);
  assert.equal(read(lines(3_000_000)), undefined);
  const far = { version: 3, sections: [{ offset: { line: 1_000_000_000, column: 0 }, map: base }] };
  assert.equal(read(JSON.stringify(far)), undefined);
  assert.equal(read(JSON.stringify({ ...base, sourceRoot: 'a'.repeat(3_000) })), undefined);
});
