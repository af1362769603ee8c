import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { everythingFrom, headOf, rawSocket } from '../../test/support/raw_socket.ts';
import { untilRead } from '../../test/support/turns.ts';
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

test('a refused client cannot keep its connection open by sending on', async (t) => {
  const { url } = await world({ environment });
  const open = await Promise.all(Array.from({ length: 5 }, () => rawSocket(url)));
  const { hostname, port } = new URL(url);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const refused = connect({ host: hostname, port: Number(port), allowHalfOpen: true }).resume();
  refused.on('error', () => {}); // the server resets it
  await once(refused, 'end');
  refused.write('x');
  await untilRead();
  assert.ok(!refused.closed);
  t.mock.timers.tick(2000);
  while (!refused.closed) {
    refused.write('x');
    await nextTurn();
  }
  assert.ok(refused.closed);
  for (const socket of open) socket.destroy();
});

test('a client that is refused too often cannot come back at once by closing its connections', async () => {
  const { url } = await world({ environment });
  const path = '/api/v4/error_tracking/collector/api/0/envelope/?sentry_key=none';
  for (let refused = 0; refused < 20; refused++)
    assert.equal((await fetch(url + path, { method: 'POST', body: '{}\n' })).status, 404);
  let answer = '';
  // Each is closed before it is answered, so that few are open at a time.
  for (let tries = 0; tries < 40 && !answer.includes('Too many connections'); tries++) {
    const socket = await rawSocket(url);
    socket.write(`${headOf('POST', path, { 'content-length': 3 })}{}\n`);
    const everything = everythingFrom(socket);
    await untilRead();
    socket.destroy();
    answer = await everything;
  }
  assert.match(answer, /^HTTP\/1\.1 503 .*Too many connections from this address/s);
});
