import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { test } from 'node:test';
import { answering, asking, Unanswered } from './thread_questions.ts';

test('questions are answered in any order, and as work for whoever gave the work', async () => {
  const client = new AsyncLocalStorage<string>();
  const first = Promise.withResolvers<void>();
  const { port, close } = client.run('ada', () =>
    answering<number, string>(async (asked) => {
      if (asked === 1) await first.promise;
      else first.resolve();
      return `${asked} for ${client.getStore()}`;
    }),
  );
  const ask = asking<number, string>(port);
  assert.deepEqual(await Promise.all([ask(1), ask(2)]), ['1 for ada', '2 for ada']);
  close();
});

test('a failure is told to whoever gave the work, and the thread does not wait for ever', async () => {
  const failing = answering<string, string>(async () => {
    throw new Error('no database');
  });
  await assert.rejects(asking<string, string>(failing.port)('a'), Unanswered);
  await assert.rejects(failing.failure, /^Error: no database$/);
  failing.close();
  const silent = answering<string, string>(() => new Promise(() => {}));
  const waiting = asking<string, string>(silent.port)('a');
  silent.close();
  await assert.rejects(waiting, Unanswered);
});
