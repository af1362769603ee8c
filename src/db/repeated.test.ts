import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../test/support/database.ts';
import type { Database } from './index.ts';
import { repeated } from './repeated.ts';

test('of two transactions in a deadlock, the one that PostgreSQL ends is run again, once, and both take effect', async () => {
  const { db } = await testDatabase();
  await sql`create table pots (id integer primary key, beans integer not null)`.execute(db);
  await sql`insert into pots values (1, 0), (2, 0)`.execute(db);
  const sow = (tx: Database, id: number) => sql`update pots set beans = beans + 1 where id = ${id}`.execute(tx);
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let runs = 0;
  const both = (first: number) =>
    repeated(db, async (tx) => {
      runs++;
      await sow(tx, first);
      gates[first - 1]!.resolve();
      // Each has one row before it asks for the other.
      await gates[2 - first]!.promise;
      await sow(tx, 3 - first);
    });
  await Promise.all([both(1), both(2)]);
  // The one that runs again may be faster than the one that it has made way for.
  assert.ok(runs > 2);
  const { rows } = await sql<{ beans: number }>`select beans from pots order by id`.execute(db);
  assert.deepEqual(
    rows.map(({ beans }) => beans),
    [2, 2],
  );
});

test('other failures are not repeated, and those that last come to an end', async () => {
  const { db } = await testDatabase();
  const runs = { once: 0, often: 0 };
  const failing = (kind: keyof typeof runs, state: string) =>
    repeated(db, async (tx) => {
      runs[kind]++;
      await sql`do ${sql.lit(`begin raise exception using errcode = '${state}'; end`)}`.execute(tx);
    });
  await assert.rejects(failing('once', '23505'), { code: '23505' });
  await assert.rejects(failing('often', '40001'), { code: '40001' });
  assert.deepEqual(runs, { once: 1, often: 4 });
});
