import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Chosen, Waiters } from './waiters.ts';

const everyone: Chosen<string, string> = async (kinds) => new Set(kinds);
const never = new AbortController().signal;

/** A number of waiters that each take one piece of work, if there is one. */
async function workers(waiters: Waiters<string, string>, names: readonly string[], work: { left: number }) {
  const looks: string[] = [];
  const done = names.map(async (name) => {
    const waiter = waiters.enter(name, name);
    try {
      while (await waiter.news(never)) {
        looks.push(name);
        if (work.left === 0) continue;
        work.left -= 1;
        return name;
      }
      return undefined;
    } finally {
      waiter.leave();
    }
  });
  return { looks, done };
}

const names = Array.from({ length: 100 }, (_, index) => `w${index}`);

test('those who wait the longest are woken, and no more than can find something', async () => {
  const work = { left: 1 };
  const waiters = new Waiters<string, string>({
    most: 2,
    chosen: async (kinds) => new Set(work.left > 0 ? kinds : []),
  });
  const { looks, done } = await workers(waiters, names, work);
  waiters.tell('something');
  assert.equal(await Promise.race(done), 'w0');
  assert.deepEqual(looks, names.slice(0, 8));
  assert.equal(waiters.count, 99);
});

test('everyone looks when anything may be new', async () => {
  const work = { left: 100 };
  const waiters = new Waiters<string, string>({ most: 2, chosen: async () => new Set() });
  const { done } = await workers(waiters, names, work);
  waiters.tell('nothing for anyone');
  waiters.tell();
  assert.deepEqual(await Promise.all(done), names);
  assert.equal(waiters.count, 0);
});

test('news that come while a waiter looks are not lost', async () => {
  const waiters = new Waiters<string, string>({ most: 2, chosen: everyone });
  const waiter = waiters.enter('one', 'here');
  waiters.tell('early');
  assert.equal(await waiter.news(never), true);
  waiter.leave();
});

test('a further one takes the place of the oldest at its place', async () => {
  const waiters = new Waiters<string, string>({ most: 2, chosen: everyone });
  const [first, second, third] = ['here', 'here', 'here'].map((place) => waiters.enter('one', place));
  assert.equal(await first!.news(never), false);
  const stop = new AbortController();
  const [waits, alsoWaits] = [second!.news(stop.signal), third!.news(stop.signal)];
  stop.abort();
  assert.deepEqual([await waits, await alsoWaits, await third!.news(stop.signal)], [false, false, false]);
});

test('one that leaves while it looks does not keep the others from being woken', async () => {
  const waiters = new Waiters<string, string>({ most: 2, chosen: everyone });
  const leaving = waiters.enter('one', 'here');
  const others = Array.from({ length: 8 }, (_, index) => waiters.enter('other', `place ${index}`));
  const gone = leaving.news(never).then(() => leaving.leave());
  const woken = others.map((other) => other.news(never));
  waiters.tell('something');
  await gone;
  others.slice(0, 7).forEach((other) => void other.news(never));
  assert.deepEqual(
    await Promise.all(woken),
    Array.from({ length: 8 }, () => true),
  );
});
