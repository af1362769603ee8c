import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../test/support/database.ts';
import { areaServices } from '../areas/index.ts';
import { fromOf, keyOf } from './stored_files.ts';

const { stored_files } = areaServices;

/** Files whose column has the whole key. */
const withKeys = stored_files.filter(({ prefix }) => prefix === undefined);

test('every column with keys of blobs is described, and no other one', async () => {
  const { db } = await testDatabase();
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and data_type = 'text' and column_name like '%\\_key' and column_name <> 'public_key'`.execute(
    db,
  );
  assert.deepEqual(withKeys.map(({ table, key }) => `${table}.${key}`).sort(), rows.map(({ name }) => name).sort());
});

test('every table with keys of blobs, and no other one, hands them to unused_blobs when its rows are deleted', async () => {
  const { db } = await testDatabase();
  const { rows } = await sql<{ name: string }>`
    select distinct tgrelid::regclass::text as name from pg_trigger join pg_proc on pg_proc.oid = tgfoid
     where prosrc like '%into unused_blobs%' and tgtype & 8 <> 0`.execute(db);
  assert.deepEqual([...new Set(withKeys.map(({ table }) => table))].sort(), rows.map(({ name }) => name).sort());
});

/** The server has a logo and three icons. */
const fewRows = ['appearance_pictures'];

test('what a description says of its table is there, and its keys are found by an index', async () => {
  const { db } = await testDatabase();
  for (const files of stored_files) {
    const { table, key, project_id, group_id, size_bytes, sha256, check } = files;
    const columns = [project_id, group_id, size_bytes, sha256, check?.name].filter((name) => name !== undefined);
    await sql`
      select ${sql.raw(keyOf(files))}, ${sql.join([sql`true`, ...columns.map((name) => sql.ref(name))])}
        from ${sql.raw(fromOf(files))} limit 0`.execute(db);
    const { rows: indexes } = await sql`
      select from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
       where indrelid = ${table}::regclass and attname = ${key}`.execute(db);
    assert.equal(indexes.length > 0, !fewRows.includes(table), table);
  }
});
