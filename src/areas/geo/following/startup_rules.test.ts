import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStartup } from './startup_rules.ts';

function message(words: readonly string[], version = 0x0003_0000): Buffer {
  const text = Buffer.from(`${words.map((word) => `${word}\0`).join('')}\0`);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + text.length, 0);
  head.writeUInt32BE(version, 4);
  return Buffer.concat([head, text]);
}

test('the parameters are read when the message is complete', () => {
  const whole = message(['user', 'coppice_geo', 'replication', 'database']);
  for (let length = 0; length < whole.length; length++) assert.equal(readStartup(whole.subarray(0, length)), undefined);
  const read = readStartup(Buffer.concat([whole, Buffer.from('more')]))!;
  assert.deepEqual(
    [...read.parameters],
    [
      ['user', 'coppice_geo'],
      ['replication', 'database'],
    ],
  );
  assert.ok(read.bytes.toString().endsWith('more'));
});

test('other messages, and parameters that are given twice, are refused', () => {
  const twice = message(['user', 'coppice_geo', 'user', 'coppice']);
  const cancellation = message([], 80_877_102);
  const encryption = message([], 80_877_103);
  const tooLong = message(['user', 'a'.repeat(10_000)]);
  for (const wrong of [twice, cancellation, encryption, tooLong, Buffer.from('GET / HTTP/1.1\r\n')])
    assert.throws(() => readStartup(wrong));
});
