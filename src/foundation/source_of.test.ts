import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceOf } from './source_of.ts';

test('an IPv4 address is a source, and a network of 64 bits of IPv6', () => {
  const sources = {
    '192.0.2.7': '192.0.2.7',
    '::ffff:192.0.2.7': '192.0.2.7',
    '2001:db8:1:2:3:4:5:6': '2001:db8:1:2::/64',
    '2001:db8:1:2::1': '2001:db8:1:2::/64',
    '2001:0db8:1::2': '2001:db8:1:0::/64',
    '::1': '0:0:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
    '': '',
  };
  for (const [address, source] of Object.entries(sources)) assert.equal(sourceOf(address), source, address);
  assert.equal(sourceOf(undefined), '', 'a client that has left');
});
