import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../../../test/support/database.ts';
import { emptyBeforeMigrations } from './index.ts';

test('migrations of a secondary find empty tables, and those of any other server all rows', async () => {
  const { db } = await testDatabase();
  const topics = async () => (await db.selectFrom('topics').select('name').execute()).length;
  await db.insertInto('topics').values({ name: 'apples', title: 'Apples' }).execute();
  await emptyBeforeMigrations(db);
  assert.equal(await topics(), 1);
  await db.insertInto('geo_following').values({ promoted_at: sql`now()` }).execute();
  await emptyBeforeMigrations(db);
  assert.equal(await topics(), 1);
  await db.updateTable('geo_following').set({ promoted_at: null, state: 'following', copied_at: sql`now()` }).execute();
  await emptyBeforeMigrations(db);
  assert.equal(await topics(), 0);
  const { state, copied_at } = await db.selectFrom('geo_following').select(['state', 'copied_at']).executeTakeFirstOrThrow();
  assert.deepEqual({ state, copied_at }, { state: 'waiting', copied_at: null });
  assert.ok(await db.selectFrom('kysely_migration' as never).executeTakeFirst(), 'what the site has migrated stays');
});
