import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../test/support/database.ts';
import type { Database } from './connect.ts';
import { isDataException } from './connect.ts';

const quotient = async (db: Database, divisor: number) => {
  const { rows } = await sql`select 6 / ${divisor}::int as quotient, ${divisor}::text as text, null as nothing`.execute(
    db,
  );
  return rows;
};

test('a prepared statement gives the same rows each time, also after an error', async () => {
  const { db } = await testDatabase();
  await db.connection().execute(async (connection) => {
    await assert.rejects(quotient(connection, 0), isDataException);
    assert.deepEqual(await quotient(connection, 2), [{ quotient: 3, text: '2', nothing: null }]);
    assert.deepEqual(await quotient(connection, 3), [{ quotient: 2, text: '3', nothing: null }]);
    await assert.rejects(quotient(connection, 0), isDataException);
    assert.deepEqual(await quotient(connection, 1), [{ quotient: 6, text: '1', nothing: null }]);
  });
});

test('a prepared statement without columns says how many rows it changed', async () => {
  const { db } = await testDatabase();
  await db.connection().execute(async (connection) => {
    await sql`create temporary table numbers (number int)`.execute(connection);
    const insert = (count: number) =>
      sql`insert into numbers select generate_series(1, ${count}::int)`.execute(connection);
    for (const count of [2, 3]) {
      const { numAffectedRows, rows } = await insert(count);
      assert.deepEqual([numAffectedRows, rows], [BigInt(count), []]);
    }
  });
});

test('a prepared statement refuses a value that cannot be sent, and the connection can be used', async () => {
  const { db } = await testDatabase();
  const circular: { self?: object } = {};
  circular.self = circular;
  await db.connection().execute(async (connection) => {
    const echo = (value: unknown) => sql`select ${value}::jsonb as value`.execute(connection);
    assert.deepEqual((await echo({ a: 1 })).rows, [{ value: { a: 1 } }]);
    await assert.rejects(echo(circular), TypeError);
    assert.deepEqual((await echo({ a: 2 })).rows, [{ value: { a: 2 } }]);
  });
});
