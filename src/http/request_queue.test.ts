import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestQueue } from './request_queue.ts';

/** A queue with a clock, and what became of each request. */
function queueAt() {
  let now = 0;
  const queue = new RequestQueue();
  const fates: Record<string, 'started' | 'refused'> = {};
  const gone = new Set<string>();
  return {
    queue,
    fates,
    gone,
    enter: (name: string, { source = 'somewhere', patience_ms = 10_000 } = {}) =>
      queue.enter(
        {
          source,
          patience_ms,
          start: () => {
            fates[name] = 'started';
          },
          refuse: () => {
            fates[name] = 'refused';
          },
          isGone: () => gone.has(name),
        },
        now,
      ),
    /** Lets time pass, in which requests were delayed or not. */
    pass: (time_ms: number, isDelayed: boolean) => {
      now += time_ms;
      queue.adapt(isDelayed, now);
    },
  };
}

/** A queue for which 20 requests of as many sources are worked on and no more are begun. */
function busyQueue() {
  const here = queueAt();
  for (const name of names(20, 'early')) here.enter(name, { source: name });
  here.pass(100, true);
  return here;
}

const names = (count: number, prefix: string) => Array.from({ length: count }, (_, number) => `${prefix}${number}`);

test('a process that keeps up works on every request at once', () => {
  const { queue, enter, fates, pass } = queueAt();
  for (let round = 0; round < 30; round++) {
    for (const name of names(10, `${round}.`)) enter(name);
    pass(100, false);
  }
  assert.deepEqual([queue.load.working, queue.load.waiting], [300, 0]);
  assert.equal(fates['29.9'], 'started');
});

test('requests that are delayed queue in order', () => {
  const { queue, enter, fates } = busyQueue();
  assert.equal(queue.load.at_once, 16);
  for (const name of names(5, 'late')) enter(name);
  assert.deepEqual(queue.load, { working: 20, waiting: 5, at_once: 16, refused: 0 });
  for (let ended = 0; ended < 5; ended++) queue.leave(`early${ended}`);
  assert.deepEqual([queue.load.working, fates.late0, fates.late1], [16, 'started', undefined]);
});

test('a client that sends many requests delays its own, not those of others', () => {
  const { queue, enter, fates } = busyQueue();
  for (const name of names(1005, 'flood')) enter(name, { source: 'one' });
  assert.deepEqual([queue.load.refused, fates.flood1000], [5, 'refused']);
  enter('quiet', { source: 'other' });
  for (let ended = 0; ended < 6; ended++) queue.leave(`early${ended}`);
  assert.deepEqual([fates.flood0, fates.quiet, fates.flood1], ['started', 'started', undefined]);
});

test('the queue as a whole has a limit, too', () => {
  const { queue, enter } = busyQueue();
  for (let source = 0; source < 11; source++)
    for (const name of names(1000, `${source}.`)) enter(name, { source: String(source) });
  assert.deepEqual([queue.load.waiting, queue.load.refused], [10_000, 1000]);
});

test('a request waits as long as its client is willing to', () => {
  const { enter, fates, pass } = busyQueue();
  enter('clone', { patience_ms: 30_000 });
  pass(2000, true);
  enter('late', { patience_ms: 1000 });
  pass(900, true);
  assert.deepEqual([fates.late, fates.clone], [undefined, undefined]);
  pass(200, true);
  assert.deepEqual([fates.late, fates.clone], ['refused', undefined]);
});

test('once the queue has not been empty for five seconds, waits are short until it has been', () => {
  const { queue, enter, fates, pass } = busyQueue();
  const answer = () => {
    queue.leave('early0');
    queue.goOn('early0');
  };
  for (const name of names(2, 'first')) enter(name);
  pass(4900, true);
  enter('second');
  pass(100, true);
  assert.deepEqual([fates.first0, fates.second], [undefined, undefined]);
  pass(100, true);
  assert.deepEqual([fates.first0, fates.second], ['refused', undefined]);
  pass(1200, true);
  assert.equal(fates.second, 'refused');
  answer();
  enter('third');
  pass(2000, true);
  assert.equal(fates.third, undefined);
});

test('a request whose client has gone is dropped', () => {
  const { queue, enter, fates, gone, pass } = busyQueue();
  for (const name of ['first', 'second', 'third']) enter(name);
  gone.add('first').add('third');
  for (let ended = 0; ended < 5; ended++) queue.leave(`early${ended}`);
  assert.deepEqual([fates.first, fates.second], [undefined, 'started']);
  pass(100, true);
  assert.deepEqual([queue.load.waiting, queue.load.refused, fates.third], [0, 0, undefined]);
});

test('when requests are no longer delayed, a quiet process works on as many as before within a second', () => {
  const { queue, enter, pass } = busyQueue();
  for (const name of names(8, 'late')) enter(name);
  pass(100, false);
  assert.deepEqual([queue.load.at_once, queue.load.working, queue.load.waiting], [20, 20, 8]);
  for (let look = 0; look < 9; look++) pass(100, false);
  assert.deepEqual([queue.load.at_once, queue.load.working, queue.load.waiting], [64, 28, 0]);
});

test('a request that waits for its client makes room for others', () => {
  const { queue, enter, fates, pass } = queueAt();
  for (const name of names(16, 'early')) enter(name, { source: name });
  pass(100, true);
  enter('late');
  assert.equal(fates.late, undefined);
  queue.leave('early0');
  assert.equal(fates.late, 'started');
  // What has gone on meanwhile goes on at once, and what has to begin again in its turn, before what is new.
  queue.goOn('early0');
  assert.equal(queue.load.working, 17);
  enter('later');
  queue.leave('early1');
  const resumed: string[] = [];
  const piece = (source: string, isGone = false) => ({
    source,
    start: () => void resumed.push(source),
    isGone: () => isGone,
  });
  for (const source of ['early1', 'early1', 'early2']) queue.resume(piece(source, source === 'early2'));
  assert.deepEqual([queue.load.working, resumed], [16, []]);
  for (const source of ['early3', 'early4', 'early5']) queue.leave(source);
  assert.deepEqual([resumed, fates.later], [['early1', 'early1'], 'started']);
});

test('while requests are delayed, one source has a quarter of those that are worked on, and the others have theirs at once', () => {
  const { queue, enter, fates, pass } = queueAt();
  for (const name of names(40, 'flood')) enter(name, { source: 'one' });
  pass(100, true);
  for (let ended = 0; ended < 36; ended++) queue.leave('one');
  for (const name of names(6, 'more')) enter(name, { source: 'one' });
  assert.deepEqual([queue.load.working, queue.load.at_once, fates.more0], [8, 32, 'started']);
  assert.deepEqual([fates.more3, fates.more4], ['started', undefined]);
  enter('quiet', { source: 'other' });
  assert.equal(fates.quiet, 'started');
  queue.leave('one');
  assert.deepEqual([fates.more4, fates.more5], ['started', undefined]);
  for (let look = 0; look < 5; look++) pass(100, false);
  assert.equal(fates.more5, 'started');
});
