import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDatabase } from '../../test/support/database.ts';
import { beginLoading } from './database_load.ts';

async function* brokenOff(line: string) {
  yield Buffer.from(line);
  throw new Error('the archive breaks off');
}

test('an archive that ends among rows fails with its own error, and the database stays as it was', async () => {
  const { db, connectionString } = await testDatabase();
  const loading = await beginLoading(connectionString);
  await loading.takeTables([{ name: 'instance', columns: ['id', 'secret_fingerprint'] }]);
  await assert.rejects(loading.takeRows('instance', brokenOff('1\t\\\\x00\n')), /the archive breaks off/);
  await loading.end();
  assert.deepEqual(await db.selectFrom('instance').select('id').execute(), []);
});
