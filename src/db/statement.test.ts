import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../test/support/database.ts';
import { ofAnyLength } from './data_loader.ts';
import { type Slots, statement } from './statement.ts';

test('a statement is written once for each shape, whatever its values are', async () => {
  const { db } = await testDatabase();
  const written: string[] = [];
  const numbers = statement(
    (slots: Slots<{ ids: readonly number[]; name: string | null }>, { backwards }: { backwards: boolean }) => {
      const text = sql<{ id: number; name: string | null; again: string | null }>`
      select id, ${slots.name}::text as name, ${slots.name}::text as again from unnest(${ofAnyLength(slots.ids, 'bigint[]')}) id
       order by id ${backwards ? sql`desc` : sql`asc`}`;
      written.push(text.compile(db).sql);
      return text;
    },
  );
  const row = (id: number, name: string | null) => ({ id, name, again: name });
  assert.deepEqual(await numbers(db, { ids: [2, 1], name: 'a' }, { backwards: false }), [row(1, 'a'), row(2, 'a')]);
  assert.deepEqual(
    await numbers(db, { ids: [2, 1, 3], name: null }, { backwards: true }),
    [3, 2, 1].map((id) => row(id, null)),
  );
  assert.deepEqual(await numbers(db, { ids: [], name: '' }, { backwards: true }), []);
  assert.deepEqual(await numbers(db, { ids: [7], name: "o'b" }, { backwards: false }), [row(7, "o'b")]);
  assert.equal(written.length, 2);
});

test('a statement runs in the transaction that it is given', async () => {
  const { db } = await testDatabase();
  const now = statement((_: Slots<object>) => sql<{ now: string }>`select now()::text as now`);
  await db.transaction().execute(async (tx) => assert.deepEqual(await now(tx, {}), await now(tx, {})));
});
