import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { sharedDatabase } from '../../test/support/database.ts';
import { connect, type Database, poolDelays, poolLoad } from './connect.ts';

let db: Database;

before(async () => {
  const { connectionString } = await sharedDatabase();
  db = connect({ connectionString, max: 3 });
});
after(() => db.destroy());

/** Changes no row. */
const write = (divisor = 1) => sql`update users set username = username where id = -1 / ${divisor}::int`.execute(db);

/** Starts a transaction that is open until it is told to end. */
async function openTransaction() {
  const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const over = db.transaction().execute(async () => {
    begun.resolve();
    await end.promise;
  });
  await begun.promise;
  return { end: end.resolve, over };
}

test('reading has a connection while as many write as may', async () => {
  const [first, second] = [await openTransaction(), await openTransaction()];
  let hasWritten = false;
  const writing = write().then(() => {
    hasWritten = true;
  });
  assert.deepEqual((await sql`select 1 as one`.execute(db)).rows, [{ one: 1 }]);
  assert.equal(hasWritten, false);
  assert.equal(poolLoad(db).waiting, 1);
  assert.ok(poolDelays(db).writing_ms > 0);
  assert.equal(poolDelays(db).any_ms, 0);
  first.end();
  await writing;
  second.end();
  await Promise.all([first.over, second.over]);
  assert.equal(poolDelays(db).writing_ms, 0);
});

test('read-only transactions are not counted as writing', async () => {
  const open = [await openTransaction(), await openTransaction()];
  const reading = db.transaction().setAccessMode('read only');
  assert.deepEqual(await reading.execute(async (trx) => (await sql`select 1 as one`.execute(trx)).rows), [{ one: 1 }]);
  for (const { end } of open) end();
  await Promise.all(open.map(({ over }) => over));
});

test('statements and transactions that fail do not keep others from writing', async () => {
  for (let turn = 0; turn < 3; turn++) {
    await assert.rejects(write(0), /division by zero/);
    await assert.rejects(
      db.transaction().execute(() => Promise.reject(new Error('stopped'))),
      /stopped/,
    );
  }
  await write();
});
