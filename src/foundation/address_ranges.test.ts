import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inRanges, isLoopback, isRange, rangesIn } from './address_ranges.ts';

test('ranges are addresses and blocks of both versions', () => {
  for (const text of ['192.0.2.1', '192.0.2.0/24', '0.0.0.0/0', '2001:db8::1', '2001:db8::/32', '::/0'])
    assert.ok(isRange(text), text);
  for (const text of [
    '',
    'x',
    '192.0.2.0/33',
    '192.0.2.0/',
    '192.0.2.0/-1',
    '192.0.2/24',
    '2001:db8::/129',
    '192.0.2.0/24/1',
    'fe80::1%eth0',
    '1',
  ])
    assert.ok(!isRange(text), text);
});

test('an address is in a range, also if it is written as one of version 6', () => {
  const is = inRanges(rangesIn(' 192.0.2.0/24, 2001:db8::/32 ,198.51.100.7,nonsense'));
  for (const address of ['192.0.2.0', '192.0.2.255', '::ffff:192.0.2.9', '2001:db8:1::1', '198.51.100.7'])
    assert.ok(is(address), address);
  for (const address of ['192.0.3.0', '2001:db9::1', '198.51.100.8', '', 'nonsense']) assert.ok(!is(address), address);
  assert.ok(!inRanges([])('192.0.2.1'));
});

test('addresses of this machine are known', () => {
  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1']) assert.ok(isLoopback(address), address);
  for (const address of ['192.0.2.1', '::2', '']) assert.ok(!isLoopback(address), address);
});
