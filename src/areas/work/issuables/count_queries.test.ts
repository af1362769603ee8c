/** Whether rows are few enough to be looked up. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { world } from '../../../../test/support/world.ts';
import { fewIds } from './count_queries.ts';

test('2,000 rows are few', async () => {
  const { db } = await world({});
  const few = await fewIds(db, sql`select id from generate_series(1, 2000) id`);
  assert.deepEqual([few?.length, few?.[0], few?.at(-1)], [2000, 1, 2000]);
  assert.deepEqual(await fewIds(db, sql`select id from generate_series(1, 0) id`), []);
});

test('more rows are many, which is remembered', async () => {
  const { db } = await world({});
  await sql`create sequence asked`.execute(db);
  const many = sql<{ id: number }>`select nextval('asked') as id from generate_series(1, 2001)`;
  assert.equal(await fewIds(db, many), undefined);
  assert.equal(await fewIds(db, many), undefined);
  const { rows } = await sql<{ last_value: number }>`select last_value from asked`.execute(db);
  assert.deepEqual(rows, [{ last_value: 2001 }]);
});
