import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { JobServices } from '../services/index.ts';
import { type Poll, startPolling } from './poll.ts';

const services = {} as JobServices;

test('a poll looks again at once while there is more, goes on when it has failed, and stops when its run has ended', async () => {
  const logged: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => logged.push(JSON.parse(line).msg) });
  const finds = [() => true, () => Promise.reject(new Error('once')), () => false, () => true];
  const lastBegan = Promise.withResolvers<void>();
  const release = Promise.withResolvers<boolean>();
  let ended = 0;
  const look: Poll = {
    name: 'look',
    every_ms: 1,
    run: async () => {
      const find = finds.shift();
      if (find) return find();
      lastBegan.resolve();
      await release.promise;
      ended += 1;
      return true;
    },
  };
  const polling = startPolling([look], { ...services, log });
  await lastBegan.promise;
  const stopped = polling.stop();
  release.resolve(true);
  await stopped;
  assert.equal(ended, 1);
  assert.deepEqual(logged, ['a poll failed']);
});
