import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everythingFrom, headOf, rawSocket } from '../../test/support/raw_socket.ts';
import { world } from '../../test/support/world.ts';

const environment = { COPPICE_CONNECTIONS_PER_ADDRESS: '5', COPPICE_TRUSTED_PROXIES: '127.0.0.2' };
const head = headOf('GET', '/api/v4/version', { connection: 'close' });

test('an address that has its connections open gets 503 on the next one, until one ends', async () => {
  const { url } = await world({ environment });
  const open = await Promise.all(Array.from({ length: 5 }, () => rawSocket(url)));
  const refused = await rawSocket(url);
  const answer = await everythingFrom(refused);
  assert.match(answer, /^HTTP\/1\.1 503 /);
  assert.match(answer, /\{"message":"503 Service Unavailable - Too many connections from this address"\}$/);

  open[0]!.destroy();
  // The server hears of it a moment later.
  for (let answer = ''; !/^HTTP\/1\.1 401 /.test(answer); ) {
    const next = await rawSocket(url);
    next.write(head);
    answer = await everythingFrom(next);
  }
  for (const socket of open) socket.destroy();
});
