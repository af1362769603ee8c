import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { GitBusy, ServicePlaces } from './service_places.ts';

const limits = { all: 4, per_repository: 3, per_client: 2, waiting: 5, waiting_per_client: 2, wait_ms: 60_000 };

/** Takes places for claims written `client repository`, and tells which have theirs. What still waits at the end of the test is given up. */
function claimed(t: TestContext, places: ServicePlaces) {
  const begun: string[] = [];
  const free = new Map<string, () => void>();
  const end = new AbortController();
  t.after(() => end.abort());
  const claim = (text: string, signal = end.signal) => {
    const [client = '', repository = ''] = text.split(' ');
    return places.take({ client, repository }, signal).then((release) => {
      begun.push(text);
      free.set(text, release);
    });
  };
  return { begun, free, claim };
}

test('a client, and a repository, have only so many places, and others get the rest', async (t) => {
  const { begun, free, claim } = claimed(t, new ServicePlaces(limits));
  for (const text of ['a x', 'a y', 'a z', 'b x', 'c x', 'd x', 'd y', 'e z']) claim(text).catch(() => {});
  await turn();
  assert.deepEqual(begun, ['a x', 'a y', 'b x', 'c x']);
  free.get('a y')!();
  await turn();
  assert.deepEqual(begun.slice(4), ['d y']);
  free.get('a x')!();
  free.get('a x')!(); // the second time means nothing
  await turn();
  assert.deepEqual(begun.slice(5), ['a z']);
});

test('a client that has many requests waiting keeps no other waiting', async (t) => {
  const { begun, free, claim } = claimed(t, new ServicePlaces({ ...limits, all: 2 }));
  for (const text of ['a x', 'a y', 'a z', 'a w', 'b x']) claim(text).catch(() => {});
  await turn();
  free.get('a x')!();
  await turn();
  assert.deepEqual(begun, ['a x', 'a y', 'b x']);
});

test('only so many wait, for so long, and no longer than their client', async (t) => {
  const { begun, free, claim } = claimed(t, new ServicePlaces({ ...limits, all: 1, wait_ms: 50 }));
  await claim('a x');
  const gone = new AbortController();
  const left = claim('a y', gone.signal);
  const late = claim('a z');
  await assert.rejects(claim('a w'), GitBusy);
  gone.abort(new Error('the client has gone'));
  await assert.rejects(left, /the client has gone/);
  await assert.rejects(late, GitBusy);
  free.get('a x')!();
  await claim('b x');
  assert.deepEqual(begun, ['a x', 'b x']);
});
