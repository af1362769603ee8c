import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateRawSync } from 'node:zlib';
import type { Mapped, ToMap } from '../source_maps/mapping.ts';
import { FairThreads, TooMuchWaiting } from './fair_threads.ts';
import { OverBudget } from './limited_thread.ts';

const limits = { heap_mib: 256, budget_ms: 300, mostWaiting: 5 };
const threadsOf = (more = {}) => new FairThreads<ToMap, Mapped>('source_maps/mapping_worker', { ...limits, ...more });

/** A map of a few kilobytes that takes seconds to read: each line is a list of its own. */
const costly = (): ToMap => ({
  bytes: Uint8Array.from(
    deflateRawSync(
      JSON.stringify({ version: 3, sources: ['a'], names: [], mappings: `AAAA;${'A,'.repeat(9_000_000)}A` }),
    ),
  ),
  is_deflated: true,
  positions: [[1, 1]],
});
const quick = (): ToMap => ({
  bytes: Uint8Array.from(Buffer.from('{"version":3,"sources":["a"],"names":[],"mappings":"AAAA"}')),
  is_deflated: false,
  positions: [[1, 1]],
});
const found = [{ source: 'a', line: 1, column: 1, name: null, context: [] }];

test('work that takes too long is ended, and so is the same work that waits; other work of its owner is done', async () => {
  const threads = threadsOf();
  const own = (content: string, map: ToMap) => threads.run(map, { owner: 1, content });
  const results = await Promise.allSettled([
    own('x', costly()),
    own('y', quick()),
    own('x', costly()),
    own('x', quick()),
  ]);
  const isOver = ({ status, reason }: Partial<PromiseRejectedResult>) =>
    status === 'rejected' && reason instanceof OverBudget;
  assert.deepEqual(results.map(isOver as never), [true, false, true, true]);
  assert.deepEqual((results[1] as PromiseFulfilledResult<Mapped>).value, found);
});

test('the costly work of one owner keeps no other owner waiting', async () => {
  const threads = threadsOf({ budget_ms: 60_000, heap_mib: 2_048 });
  let isDone = false;
  const long = threads.run(costly(), { owner: 1, content: 'x' }).then(() => {
    isDone = true;
  });
  const next = threads.run(quick(), { owner: 1, content: 'y' });
  assert.deepEqual(await threads.run(quick(), { owner: 2, content: 'z' }), found);
  assert.equal(isDone, false);
  assert.deepEqual(await next, found);
  await long;
});

test('work whose caller has left is dropped, and what one owner can have waiting is limited', async () => {
  const threads = threadsOf();
  const leaving = new AbortController();
  const own = (content: string) => threads.run(quick(), { owner: 1, content, signal: leaving.signal });
  const first = own('running');
  const others = ['a', 'b', 'c', 'd', 'e'].map(own);
  const dropped = Promise.allSettled(others);
  await assert.rejects(own('f'), TooMuchWaiting);
  leaving.abort(new Error('left'));
  assert.deepEqual(await first, found);
  assert.deepEqual(
    (await dropped).map((each) => each.status === 'rejected' && each.reason.message),
    others.map(() => 'left'),
  );
  await assert.rejects(own('g'), /^Error: left$/);
});

test('an owner with two places has two pieces of work done at once, and a third place stays for others', async () => {
  const threads = threadsOf({ budget_ms: 60_000, heap_mib: 2_048, most_threads: 3, most_per_owner: 2 });
  const done: string[] = [];
  const runs = (content: string, owner: number, map: ToMap) =>
    threads.run(map, { owner, content }).then(() => done.push(content));
  const all = [runs('long', 1, costly()), runs('short', 1, quick()), runs('other', 2, quick())];
  await Promise.all(all);
  assert.deepEqual([done.toSorted(), done.at(-1)], [['long', 'other', 'short'], 'long']);
});
