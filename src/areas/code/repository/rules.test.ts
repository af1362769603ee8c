import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slowClock, turnsDuring } from '../../../../test/support/turns.ts';
import { contentIn, trimmedPath } from './rules.ts';

const piece_chars = 1024 * 1024;
/** Bytes that no two pieces share, of a length that neither three nor the length of a piece divides. */
const bytes = Buffer.from(Buffer.alloc(2 * piece_chars + 1).map((_, index) => (index * 7 + (index >> 8)) & 255));

/** Base64 in lines, so that each piece ends at another place of a group of four. */
const wrapped = (base64: string) => base64.replaceAll(/.{76}/g, '$&\r\n');

test('long content is read in pieces, wherever they end', async () => {
  const base64 = bytes.toString('base64');
  for (const text of [base64, wrapped(base64), `\n${base64}\n`, base64.replace(/=+$/, '')])
    assert.ok((await contentIn('content', text, 'base64')).equals(bytes));
  // The padding is cut, and so is a text as long as its pieces that lacks it.
  for (const length of [piece_chars - 2, piece_chars - 1, piece_chars, piece_chars + 1]) {
    const text = `${'AAAA'.repeat(length / 4)}YQ==`;
    assert.ok((await contentIn('content', text, 'base64')).equals(Buffer.from(text, 'base64')), `${length}`);
  }
  const exact = `\n\n\n\n${'A'.repeat(piece_chars - 4)}`;
  assert.equal((await contentIn('content', exact, 'base64')).length, Buffer.from(exact, 'base64').length);

  for (const text of ['x😀'.repeat(piece_chars), 'é'.repeat(piece_chars + 1), '😀'.repeat(piece_chars), '\ud800'])
    assert.ok((await contentIn('content', text, 'text')).equals(Buffer.from(text)));
  for (const encoding of ['text', 'base64'] as const)
    assert.equal((await contentIn('content', '', encoding)).length, 0);
});

test('content that is not Base64 is refused, wherever a piece ends', async () => {
  const base64 = 'A'.repeat(piece_chars);
  for (const text of [
    `${'\n'.repeat(piece_chars - 1)}$`,
    'Y',
    'Y===',
    'YWJjY',
    `${base64}A`,
    `${base64}$`,
    `$${base64}`,
    `${base64}=A`,
    `${'A'.repeat(piece_chars - 1)}=A`,
  ])
    await assert.rejects(contentIn('content', text, 'base64'), { status: 400 });
});

test('other requests are served while long content is read', async (t) => {
  slowClock(t);
  const turns = await turnsDuring(() => contentIn('content', 'A'.repeat(8 * piece_chars), 'base64'));
  assert.ok(turns >= 4, `${turns} turns`);
});

test('the slashes around a path are removed, however many are inside', () => {
  assert.equal(trimmedPath('//a/b/'), 'a/b');
  assert.equal(trimmedPath('///'), '');
  const inside = `a${'/'.repeat(2_000_000)}b`;
  assert.equal(trimmedPath(`/${inside}//`), inside);
});
