import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { threadCpuUsage } from 'node:process';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import pino from 'pino';
import type { Blobs } from '../blobs/index.ts';
import type { Database } from '../db/index.ts';
import { deferBodies, UnreadBody } from './body.ts';
import { answeringIn, jsonForm } from './error_replies.ts';
import type { Outage } from './outage.ts';
import { judgeOfDelays, loadMeter, type Queued, shedLoad } from './overload.ts';

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}

/** A server whose requests can be delayed, and whose `/held` answers when it is told to. */
async function serverWithQueue(context: TestContext) {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line).msg) });
  const app = fastify({ loggerInstance: log, forceCloseConnections: true }).decorate('outage', {
    covers: () => false,
  } as unknown as Outage) as unknown as FastifyInstance;
  context.after(() => app.close());
  const released = Promise.withResolvers<void>();
  app.setErrorHandler(answeringIn(jsonForm));
  deferBodies(app);
  const load = { isDelayed: false };
  const queue = shedLoad(app, () => load.isDelayed, log);
  app.get('/held', async () => {
    await released.promise;
    return 'done';
  });
  const arrived: string[] = [];
  app.post('/text', async ({ body, id }: FastifyRequest) => {
    arrived.push(id);
    assert.ok(body instanceof UnreadBody);
    return (await body.read({ at_most_bytes: 1000, blobs: {} as Blobs })).fields;
  });
  app.get('/alive', { config: { urgent: true } satisfies Queued }, async () => 'alive');
  app.get('/hasty', { config: { patience_ms: 1 } satisfies Queued }, async () => 'answered');
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, queue, lines, load, arrived, release: released.resolve };
}

test('a wait to write is overload when it lasts longer than a disk pauses, other delays are at once', () => {
  const isDelayed = judgeOfDelays();
  const delays = { loop_ms: 5, any_ms: 20, writing_ms: 500 };
  const looks = (count: number) => Array.from({ length: count }, () => isDelayed(delays));
  assert.deepEqual(new Set(looks(10)), new Set([false]));
  assert.equal(isDelayed({ ...delays, writing_ms: 20 }), false);
  assert.deepEqual(looks(12), [...Array(10).fill(false), true, true]);
  const calm = { ...delays, writing_ms: 0 };
  assert.deepEqual(
    [isDelayed(calm), isDelayed({ ...calm, loop_ms: 11 }), isDelayed({ ...calm, any_ms: 41 })],
    [false, true, true],
  );
});

test('the event loop counts as delayed by what this process does, not by waiting for a processor', async () => {
  const isDelayed = loadMeter({} as Database);
  const during = async (block: () => void): Promise<boolean> => {
    isDelayed();
    for (let turn = 0; turn < 10; turn++) {
      await sleep(1);
      block();
    }
    return isDelayed();
  };
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  assert.equal(await during(() => Atomics.wait(waiting, 0, 0, 40)), false);
  assert.equal(
    await during(() => {
      const { user, system } = threadCpuUsage();
      for (let used = 0; used < 40_000; ) {
        const now = threadCpuUsage();
        used = now.user + now.system - user - system;
      }
    }),
    true,
  );
});

test('a server that is too busy lets requests wait, refuses those that waited too long, and serves those that are urgent', async (context) => {
  const { url, queue, lines, load, release } = await serverWithQueue(context);
  const early = Array.from({ length: 20 }, () => fetch(`${url}/held`));
  await until(() => queue.load.working === 20);
  load.isDelayed = true;
  await until(() => queue.load.at_once === 16);
  const late = Array.from({ length: 20 }, () => fetch(`${url}/held`));
  await until(() => queue.load.waiting === 20);
  const refused = await fetch(`${url}/hasty`);
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1']);
  assert.deepEqual(await refused.json(), { message: '503 Service Unavailable - The server is too busy' });
  assert.equal(await (await fetch(`${url}/alive`)).text(), 'alive');
  assert.equal(queue.load.waiting, 20);
  release();
  assert.deepEqual(new Set((await Promise.all([...early, ...late])).map(({ status }) => status)), new Set([200]));
  assert.deepEqual([queue.load.working, queue.load.refused], [0, 1]);
  await until(() => lines.length > 0);
  assert.deepEqual(lines, ['overloaded: requests are refused with 503']);
});

test('a client that is slow to send its body keeps no other request waiting', async (context) => {
  const { url, queue, load, arrived } = await serverWithQueue(context);
  const { hostname, port } = new URL(url);
  const slow = Array.from({ length: 20 }, () => connect(Number(port), hostname));
  for (const socket of slow)
    socket.write(
      'POST /text HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{"a"',
    );
  await until(() => arrived.length === slow.length);
  load.isDelayed = true;
  await until(() => queue.load.at_once === 16);
  const answer = await fetch(`${url}/text`, {
    method: 'POST',
    body: '{"b":2}',
    headers: { 'content-type': 'application/json' },
  });
  assert.deepEqual(await answer.json(), { b: 2 });
  for (const socket of slow) {
    socket.write(':1 }');
    const [reply] = await once(socket, 'data');
    assert.match(String(reply), /^HTTP\/1.1 200 /);
    socket.destroy();
  }
  assert.equal(queue.load.working, 0);
});
