import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskPiece, maskRest, secretsOf } from './rules.ts';

/** The log that is kept of some pieces. */
function logOf(pieces: readonly string[], values: readonly string[]): string {
  const secrets = secretsOf(values);
  let held: Buffer = Buffer.alloc(0);
  let log = '';
  for (const piece of pieces) {
    const { kept, held_back } = maskPiece(held, Buffer.from(piece), secrets);
    log += kept.toString();
    held = held_back;
  }
  return log + maskRest(held, secrets).toString();
}

test('a masked value is replaced, in base64 and in URLs, too', () => {
  const encoded = Buffer.from('s3cret/value').toString('base64');
  assert.equal(
    logOf([`a s3cret/value ${encoded} s3cret%2Fvalue z`], ['s3cret/value']),
    'a [MASKED] [MASKED] [MASKED] z',
  );
});

test('a value that is cut anywhere between two pieces is masked', () => {
  const text = 'before abcabd after';
  for (let at = 0; at <= text.length; at += 1)
    for (let second = at; second <= text.length; second += 1)
      assert.equal(
        logOf([text.slice(0, at), text.slice(at, second), text.slice(second)], ['abcabd']),
        'before [MASKED] after',
      );
});

test('of values that contain each other, the longest is replaced', () => {
  const values = ['password', 'password123', '23yes'];
  assert.equal(logOf(['x password password123 y'], values), 'x [MASKED] [MASKED] y');
  assert.equal(logOf(['x password', '123 y'], values), 'x [MASKED] y');
  assert.equal(logOf(['x password', '1'], values), 'x [MASKED]1');
  assert.equal(logOf(['x password12', '3', 'yes'], values), 'x [MASKED]yes');
});

test('a log without masked values is kept as it is, at once', () => {
  const { kept, held_back } = maskPiece(Buffer.alloc(0), Buffer.from('text'), []);
  assert.deepEqual([kept.toString(), held_back.length], ['text', 0]);
});
