import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database } from './connect.ts';
import { dataLoader } from './data_loader.ts';

/** A loader of letters, whose case does not matter. Its statements run until the test answers them. */
function letters() {
  const statements: { asked: string; answer: PromiseWithResolvers<Map<string, string>> }[] = [];
  const load = dataLoader<string, string>(
    (letter) => letter.toLowerCase(),
    (_, asked) => {
      const answer = Promise.withResolvers<Map<string, string>>();
      statements.push({ asked: asked.join(' '), answer });
      return answer.promise;
    },
  );
  const db = {} as Database;
  return {
    statements,
    ask: (letter: string) => load(db, letter),
    elsewhere: (letter: string) => load({} as Database, letter),
    asked: () => statements.map(({ asked }) => asked),
  };
}

test('lookups of a turn share a statement, and later ones wait for the next, which asks again', async () => {
  const { statements, ask, elsewhere, asked } = letters();
  const first = [ask('a'), ask('b'), ask('A')];
  await nextTurn();
  assert.deepEqual(asked(), ['a b']);
  const second = [ask('b'), ask('c'), ask('b')];
  await nextTurn();
  assert.deepEqual(asked(), ['a b']);
  statements[0]!.answer.resolve(new Map([['a', 'old']]));
  assert.deepEqual(await Promise.all(first), ['old', undefined, 'old']);
  await nextTurn();
  assert.deepEqual(asked(), ['a b', 'b c']);
  const other = elsewhere('b');
  await nextTurn();
  assert.deepEqual(asked(), ['a b', 'b c', 'b']);
  statements[1]!.answer.resolve(new Map([['b', 'new']]));
  statements[2]!.answer.resolve(new Map());
  assert.deepEqual([...(await Promise.all(second)), await other], ['new', undefined, 'new', undefined]);
});

test('a statement that takes long keeps no other waiting', async (t) => {
  let now_ms = 0;
  t.mock.method(performance, 'now', () => now_ms);
  const { statements, ask, asked } = letters();
  const late = ask('a');
  await nextTurn();
  const waiting = ask('a');
  now_ms = 51;
  const next = ask('b');
  await nextTurn();
  assert.deepEqual(asked(), ['a', 'a b']);
  statements[1]!.answer.resolve(new Map([['a', 'new']]));
  assert.deepEqual([await waiting, await next], ['new', undefined]);
  statements[0]!.answer.resolve(new Map([['a', 'old']]));
  assert.equal(await late, 'old');
});

test('a statement that fails fails for its own lookups alone', async () => {
  const { statements, ask, asked } = letters();
  const failing = [ask('a'), ask('a')];
  await nextTurn();
  const next = ask('a');
  statements[0]!.answer.reject(new Error('away'));
  for (const failed of await Promise.allSettled(failing)) assert.equal(failed.status, 'rejected');
  await nextTurn();
  assert.deepEqual(asked(), ['a', 'a']);
  statements[1]!.answer.resolve(new Map([['a', 'back']]));
  assert.equal(await next, 'back');
});
