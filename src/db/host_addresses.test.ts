import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostsOf } from './host_addresses.ts';

test('an address may name several hosts, each with a port of its own', () => {
  assert.deepEqual(hostsOf('postgresql://forge:a%40b@one:5432,two/coppice?sslmode=require'), [
    'postgresql://forge:a%40b@one:5432/coppice?sslmode=require',
    'postgresql://forge:a%40b@two/coppice?sslmode=require',
  ]);
  for (const single of ['postgres://one/coppice', 'postgresql:///coppice?host=/var/run,/tmp&user=forge'])
    assert.deepEqual(hostsOf(single), [single]);
});
