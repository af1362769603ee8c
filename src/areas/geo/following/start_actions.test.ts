import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../../../test/support/database.ts';
import { copyAfterMigrations } from './index.ts';

test('a secondary whose schema changes must copy again, and keeps everything until then', async () => {
  const { db } = await testDatabase();
  const known = async () => {
    const topics = (await db.selectFrom('topics').select('name').execute()).length;
    const following = await db.selectFrom('geo_following').select(['state', 'slot', 'copied_at']).executeTakeFirst();
    return { topics, ...following, copied_at: following?.copied_at != null };
  };
  await sql`insert into topics (id, name, title) overriding system value values (1, 'apples', 'Apples')`.execute(db);
  await copyAfterMigrations(db);
  const copied = { state: 'following', slot: 'one', copied_at: sql<string>`now()` };
  await db
    .insertInto('geo_following')
    .values({ ...copied, promoted_at: sql`now()` })
    .execute();
  await copyAfterMigrations(db);
  assert.deepEqual(await known(), { topics: 1, state: 'following', slot: 'one', copied_at: true });
  await db.updateTable('geo_following').set({ promoted_at: null }).execute();
  await copyAfterMigrations(db);
  assert.deepEqual(await known(), { topics: 1, state: 'waiting', slot: null, copied_at: true });
  // What a migration inserts has other numbers than the rows that were copied.
  await db.insertInto('topics').values({ name: 'pears', title: 'Pears' }).execute();
});
