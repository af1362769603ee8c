import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { workFor } from './clients.ts';
import { NoPlace, Places } from './places.ts';

const limits = { all: 4, per_repository: 3, per_address: 2 };
const rules = { limits, waiting: 5, waiting_per_address: 2, wait_ms: 60_000 };

/** Takes places for claims written `address repository`, and tells which have theirs. What still waits at the end of the test is given up. */
function claimed(t: TestContext, places: Places) {
  const begun: string[] = [];
  const free = new Map<string, () => void>();
  const end = new AbortController();
  t.after(() => end.abort());
  const claim = (text: string, signal = end.signal) => {
    const [address = '', repository = ''] = text.split(' ');
    return places.take({ address, repository }, signal).then((release) => {
      begun.push(text);
      free.set(text, release);
    });
  };
  return { begun, free, claim };
}

test('an address, and a repository, have only so many places, and others get the rest', async (t) => {
  const { begun, free, claim } = claimed(t, new Places(rules));
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

test('an address that has many requests waiting keeps no other waiting', async (t) => {
  const { begun, free, claim } = claimed(t, new Places({ ...rules, limits: { ...limits, all: 2 } }));
  for (const text of ['a x', 'a y', 'a z', 'a w', 'b x']) claim(text).catch(() => {});
  await turn();
  free.get('a x')!();
  await turn();
  assert.deepEqual(begun, ['a x', 'a y', 'b x']);
});

test('only so many wait, for so long, and no longer than their client', async (t) => {
  const { begun, free, claim } = claimed(t, new Places({ ...rules, limits: { ...limits, all: 1 }, wait_ms: 50 }));
  await claim('a x');
  const gone = new AbortController();
  const left = claim('a y', gone.signal);
  const late = claim('a z');
  await assert.rejects(claim('a w'), NoPlace);
  gone.abort(new Error('the client has gone'));
  await assert.rejects(left, /the client has gone/);
  await assert.rejects(late, NoPlace);
  free.get('a x')!();
  await claim('b x');
  assert.deepEqual(begun, ['a x', 'b x']);
});

test('a person has so many places wherever they come from, and what the server does of itself needs none', async (t) => {
  const places = new Places({ ...rules, limits: { all: 4, per_person: 2 } });
  const begun: string[] = [];
  const end = new AbortController();
  t.after(() => end.abort());
  const take = (source: string, person: number) =>
    workFor({ source, person }, () =>
      places.takeForClient({ repository: 'x' }, end.signal).then(
        () => void begun.push(`${source} ${person}`),
        () => {},
      ),
    );
  for (const source of ['a', 'b', 'c']) void take(source, 1);
  void take('a', 2);
  await turn();
  assert.deepEqual(begun, ['a 1', 'b 1', 'a 2']);
  for (let count = 0; count < 10; count++) await places.takeForClient({ repository: 'x' });
});
