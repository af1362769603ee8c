import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { turnsDuring } from '../../test/support/turns.ts';
import { Base64, nullable } from './index.ts';
import { serialiser } from './serialise.ts';

const Thing = Type.Object({
  id: Type.Integer(),
  text: nullable(Type.String()),
  lines: Type.Array(Type.String()),
  shape: Type.Object({ a: Type.Optional(Type.String()) }),
  content: Base64,
});
const write = serialiser(Type.Array(Thing));

test('a large reply has the same text as a small one, and other requests run between its pieces', async () => {
  const thing = { id: 1, text: null, lines: ['"', 'ü'], shape: { a: undefined }, content: Buffer.from([0, 1, 255, 3]) };
  const small = write([thing], 'free');
  assert.equal(small, '[{"id":1,"text":null,"lines":["\\"","ü"],"shape":{},"content":"AAH/Aw=="}]');

  // Pairs of surrogates at every place, so that one of them is cut.
  const text = `x${'😀"\n'.repeat(1_000_000)}`;
  const content = Buffer.alloc(5_000_001, 'abcdef');
  const lines = Array.from({ length: 2000 }, (_, index) => `${index}`);
  const things = [thing, { ...thing, text, lines, content, hidden: 'not declared' }, { ...thing, id: 2 }];
  let pieces: string | Buffer[] = '';
  const turns = await turnsDuring(async () => {
    pieces = await write(things, 'free');
  });
  assert.ok(Array.isArray(pieces), 'it comes in pieces');
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  assert.ok(turns > length / 1_000_000, `${turns} turns`);
  for (const piece of pieces) assert.ok(piece.length < 2_000_000);
  assert.deepEqual(JSON.parse(Buffer.concat(pieces).toString()), [
    JSON.parse(small.slice(1, -1)),
    { ...JSON.parse(small.slice(1, -1)), text, lines, content: content.toString('base64') },
    { ...JSON.parse(small.slice(1, -1)), id: 2 },
  ]);
  const long = await write([{ ...thing, lines: Array.from({ length: 200 }, () => 'x'.repeat(10_000)) }], 'free');
  assert.ok(Array.isArray(long), 'lists of texts count, too');
});
