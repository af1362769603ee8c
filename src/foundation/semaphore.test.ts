import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Semaphore } from './semaphore.ts';

test('a task that has waited too long gives up, and the others keep their turns', async () => {
  const semaphore = new Semaphore(1);
  await semaphore.take();
  const started: string[] = [];
  const first = semaphore.take().then(() => started.push('first'));
  const late = semaphore.take(1);
  const last = semaphore.take(60_000).then(() => started.push('last'));
  await assert.rejects(late, { code: 'ETIMEDOUT' });
  assert.equal(semaphore.waiting, 2);
  semaphore.release();
  await first;
  semaphore.release();
  await last;
  assert.deepEqual([started, semaphore.waiting, semaphore.delay_ms], [['first', 'last'], 0, 0]);
});
