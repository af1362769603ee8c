import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { everythingFrom, headOf, rawSocket } from '../../test/support/raw_socket.ts';
import { diskBlobs } from '../blobs/index.ts';
import { deferBodies, type UnreadBody } from './body.ts';
import { answeringIn, jsonForm } from './error_replies.ts';
import { watchPace, watchReplies } from './pace.ts';

/** A server that reads bodies at `/read` and leaves them unread at `/leave`. */
async function server(t: TestContext): Promise<string> {
  const app = Fastify() as unknown as FastifyInstance;
  deferBodies(app);
  watchPace(app, { window_ms: 200, least_bytes: 100, total_ms: 1500 });
  app.setErrorHandler(answeringIn(jsonForm));
  const blobs = diskBlobs('/nowhere');
  app.post('/read', async ({ body }) => (await (body as UnreadBody).read({ at_most_bytes: 1_000_000, blobs })).fields);
  app.post('/leave', async () => ({ left: true }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  t.after(() => app.close());
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

const announced = { 'content-type': 'application/json', 'content-length': 100_000 };

/** Sends so many bytes every 20 ms until the server ends the connection, and gives its answer. */
async function drip(url: string, path: string, bytes: number): Promise<string> {
  const socket = await rawSocket(url);
  socket.write(`${headOf('POST', path, announced)}{"a":"`);
  const timer = setInterval(() => socket.write('x'.repeat(bytes)), 20);
  const answer = await everythingFrom(socket);
  clearInterval(timer);
  return answer;
}

test('a body that arrives too slowly is refused with 408, and the connection is closed', async (t) => {
  const url = await server(t);
  const slow = await drip(url, '/read', 1);
  assert.match(slow, /^HTTP\/1\.1 408 /);
  assert.match(slow, /\{"message":"408 Request Timeout"\}$/);
});

test('a body that takes too long is refused with 408, however steadily it arrives', async (t) => {
  const url = await server(t);
  assert.match(await drip(url, '/read', 100), /^HTTP\/1\.1 408 /);
});

test('a connection whose body continues after the reply is closed', async (t) => {
  const url = await server(t);
  assert.match(await drip(url, '/leave', 100), /^HTTP\/1\.1 200 [\s\S]*\{"left":true\}$/);
});

test('a reply that is not read is cut off, one that is made slowly is not', async (t) => {
  const app = Fastify() as unknown as FastifyInstance;
  watchReplies(app, { window_ms: 150, least_bytes: 1000 });
  const ended: string[] = [];
  const endless = async function* () {
    for (;;) yield Buffer.alloc(64 * 1024);
  };
  const slow = async function* () {
    for (let count = 0; count < 12; count++) {
      yield Buffer.from('x');
      await once(AbortSignal.timeout(50), 'abort');
    }
  };
  for (const [path, make] of [['/endless', endless] as const, ['/slow', slow] as const])
    app.get(path, async (_request, reply) => {
      reply.raw.once('close', () => ended.push(path));
      return reply.send(Readable.from(make()));
    });
  await app.listen({ port: 0, host: '127.0.0.1' });
  t.after(() => app.close());
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const unread = await rawSocket(url);
  unread.pause().write(headOf('GET', '/endless', {}));
  const all = await rawSocket(url);
  all.write(headOf('GET', '/slow', { connection: 'close' }));
  assert.match(await everythingFrom(all), /0\r\n\r\n$/);
  assert.deepEqual(ended.toSorted(), ['/endless', '/slow']);
  unread.destroy();
});
