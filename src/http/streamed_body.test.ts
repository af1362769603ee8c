import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify, { type FastifyInstance } from 'fastify';
import pino from 'pino';
import { everythingFrom, headOf, rawSocket } from '../../test/support/raw_socket.ts';
import type { Services } from '../services/index.ts';
import { door, openDoorway } from './door.ts';
import { jsonForm } from './error_replies.ts';
import { shedLoad } from './overload.ts';
import { watchPace } from './pace.ts';
import { streamOf } from './streamed_body.ts';

/** A server that answers `/stream` with the size of the body, unless the body is `refuse`, and `/patient` likewise, for slow clients. */
async function server(t: TestContext) {
  const app = fastify({ forceCloseConnections: true }) as unknown as FastifyInstance;
  t.after(() => app.close());
  watchPace(app, { window_ms: 200, least_bytes: 100, total_ms: 60_000 });
  const queue = shedLoad(app, () => false, pino({ level: 'silent' }));
  const arrived: string[] = [];
  const streaming = (url: string, more = {}) =>
    door({
      method: 'POST',
      url,
      ...more,
      async handle({ request }) {
        arrived.push(request.id);
        let size_bytes = 0;
        for await (const chunk of streamOf(request) as AsyncIterable<Buffer>) size_bytes += chunk.length;
        return { size_bytes };
      },
    });
  await openDoorway(app, {} as Services, {
    cost: 'usual',
    doors: [streaming('/stream'), streaming('/patient', { cost: 'push' })],
    errors: () => jsonForm,
    bodies: 'stream',
  });
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), queue, arrived };
}

async function stalled(url: string, path: string) {
  const socket = await rawSocket(url);
  socket.write(`${headOf('POST', path, { 'content-length': 1_000_000 })}x`);
  return socket;
}

test('clients that stall in streamed bodies keep no other client from being served', async (t) => {
  const { url, queue, arrived } = await server(t);
  const sockets = await Promise.all(Array.from({ length: 100 }, () => stalled(url, '/patient')));
  while (arrived.length < sockets.length) await sleep(5);
  assert.equal(queue.load.working, 0);
  const reply = await fetch(`${url}/stream`, { method: 'POST', body: 'x'.repeat(100) });
  assert.deepEqual([reply.status, await reply.json()], [200, { size_bytes: 100 }]);
  for (const socket of sockets) socket.destroy();
});

test('a streamed body that arrives too slowly is refused with 408, and the connection is closed', async (t) => {
  const { url } = await server(t);
  const answer = await everythingFrom(await stalled(url, '/stream'));
  assert.match(answer, /^HTTP\/1\.1 408 [\s\S]*\{"message":"408 Request Timeout"\}$/);
});

test('a client that breaks off a streamed body counts as one that sent a bad request', async (t) => {
  const { url, queue } = await server(t);
  const socket = await stalled(url, '/patient');
  socket.end();
  assert.match(await everythingFrom(socket), /^HTTP\/1\.1 400 /);
  assert.equal(queue.load.working, 0);
});
