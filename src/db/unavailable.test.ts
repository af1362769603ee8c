import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { connect } from './connect.ts';
import { isUnavailable } from './unavailable.ts';

test('errors of files and clients say nothing about the database, the same errors of its connections do', async (t) => {
  for (const code of ['ECONNRESET', 'EPIPE', 'ENOENT', 'ETIMEDOUT'])
    assert.equal(isUnavailable(Object.assign(new Error(`read ${code}`), { code })), false, code);
  const db = connect({ connectionString: 'postgresql://nobody@127.0.0.1:1/nothing', max: 1 });
  t.after(() => db.destroy());
  const statement = sql`select 1`;
  const attempts = [() => statement.execute(db), () => db.transaction().execute((tx) => statement.execute(tx))];
  for (const attempt of attempts) await assert.rejects(attempt, isUnavailable);
});
