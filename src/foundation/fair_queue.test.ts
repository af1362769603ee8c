import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue } from './fair_queue.ts';

const everythingIn = (queue: FairQueue<string>) => Array.from({ length: queue.length }, () => queue.take());

test('sources take turns, each in its own order', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) queue.add(item[0]!, item);
  assert.deepEqual([queue.length, queue.lengthOf('a'), queue.lengthOf('z')], [7, 4, 0]);
  assert.equal(queue.take(), 'a1');
  queue.add('d', 'd1');
  assert.deepEqual(everythingIn(queue), ['b1', 'c1', 'a2', 'd1', 'b2', 'a3', 'a4']);
  assert.deepEqual([queue.length, queue.take()], [0, undefined]);
});

test('items that are removed leave the others in their order', () => {
  const queue = new FairQueue<string>();
  for (const item of ['a1', 'a2', 'b1', 'a3', 'c1']) queue.add(item[0]!, item);
  assert.deepEqual(
    queue.remove((item) => item === 'a2' || item === 'b1'),
    ['a2', 'b1'],
  );
  assert.deepEqual([queue.length, queue.lengthOf('b')], [3, 0]);
  assert.deepEqual(everythingIn(queue), ['a1', 'c1', 'a3']);
});
