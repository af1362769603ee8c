import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestQueue } from './request_queue.ts';

/** A queue with a clock, and what became of each request. */
function queueAt() {
  let now = 0;
  const queue = new RequestQueue(now);
  const fates: Record<string, 'started' | 'refused'> = {};
  const gone = new Set<string>();
  return {
    queue,
    fates,
    gone,
    enter: (name: string) =>
      queue.enter(
        {
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

test('requests that are delayed queue in order, and those beyond the queue are refused at once', () => {
  const { queue, enter, fates, pass } = queueAt();
  for (const name of names(20, 'early')) enter(name);
  pass(100, true);
  assert.equal(queue.load.at_once, 16);
  for (const name of names(65, 'late')) enter(name);
  assert.deepEqual([fates.late0, fates.late63, fates.late64], [undefined, undefined, 'refused']);
  assert.deepEqual(queue.load, { working: 20, waiting: 64, at_once: 16, refused: 1 });
  for (let ended = 0; ended < 5; ended++) queue.leave();
  assert.deepEqual([queue.load.working, fates.late0, fates.late1], [16, 'started', undefined]);
});

test('the queue is as long as the rate of answers allows', () => {
  const { queue, enter, fates, pass } = queueAt();
  for (let round = 0; round < 40; round++) {
    for (const name of names(40, `round ${round}, `)) enter(name);
    for (let ended = 0; ended < 40; ended++) queue.leave();
    pass(100, false);
  }
  for (const name of names(20, 'early')) enter(name);
  pass(1, true);
  for (const name of names(400, 'late')) enter(name);
  const waiting = queue.load.waiting;
  assert.ok(waiting > 75 && waiting < 150, `400 answers a second leave room for 0.3 seconds: ${waiting}`);
  assert.equal(fates.late399, 'refused');
});

test('a request that has waited too long is refused', () => {
  const { enter, fates, pass } = queueAt();
  for (const name of names(20, 'early')) enter(name);
  pass(100, true);
  enter('late');
  pass(500, true);
  assert.equal(fates.late, undefined);
  pass(100, true);
  assert.equal(fates.late, 'refused');
});

test('a request whose client has gone is dropped when its turn comes', () => {
  const { queue, enter, fates, gone, pass } = queueAt();
  for (const name of names(20, 'early')) enter(name);
  pass(100, true);
  enter('first');
  enter('second');
  gone.add('first');
  for (let ended = 0; ended < 5; ended++) queue.leave();
  assert.deepEqual([fates.first, fates.second], [undefined, 'started']);
});

test('once requests are no longer delayed, more are worked on step by step', () => {
  const { queue, enter, pass } = queueAt();
  for (const name of names(20, 'early')) enter(name);
  pass(100, true);
  for (const name of names(8, 'late')) enter(name);
  pass(100, false);
  assert.deepEqual([queue.load.at_once, queue.load.working, queue.load.waiting], [18, 20, 8]);
  for (let step = 0; step < 10; step++) pass(100, false);
  assert.deepEqual([queue.load.working, queue.load.waiting], [28, 0]);
});

test('a request that waits for its client makes room for others', () => {
  const { queue, enter, fates, pass } = queueAt();
  for (const name of names(16, 'early')) enter(name);
  pass(100, true);
  enter('late');
  assert.equal(fates.late, undefined);
  queue.leave();
  assert.equal(fates.late, 'started');
  queue.resume();
  assert.equal(queue.load.working, 17);
});
