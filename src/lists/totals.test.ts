import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../test/support/database.ts';
import { countingEach, expectedRows } from './totals.ts';

test('counts of 1,000 or more are remembered by their key, others are counted again', async () => {
  const { db } = await testDatabase();
  const countEach = countingEach<{ size: number }>(({ size }) => size);
  const asked: number[][] = [];
  let more = 0;
  const ask = (sizes: number[], reader: string) =>
    countEach(
      db,
      sizes,
      (size) => `${size} for ${reader}`,
      async (some) => {
        asked.push([...some]);
        return some.map((size) => ({ size: size + more }));
      },
    );
  const sizesOf = (counts: { size: number }[]) => counts.map(({ size }) => size);
  assert.deepEqual(sizesOf(await ask([5, 1000, 999, 2000], 'one')), [5, 1000, 999, 2000]);
  more = 1;
  assert.deepEqual(sizesOf(await ask([1000, 5, 3000, 2000, 999], 'one')), [1000, 6, 3001, 2000, 1000]);
  assert.deepEqual(sizesOf(await ask([3000, 2000, 1000], 'one')), [3001, 2000, 1000]);
  assert.deepEqual(sizesOf(await ask([2000], 'another')), [2001]);
  assert.deepEqual(asked, [[5, 1000, 999, 2000], [5, 3000, 999], [2000]]);
});

test('PostgreSQL says how many rows it expects a statement to select, for the values in it', async () => {
  const { db } = await testDatabase();
  for (const count of [7, 50_000])
    assert.equal(await expectedRows(db, sql`select from generate_series(1, ${count}::int)`), count);
});
