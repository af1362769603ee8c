import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { sql } from 'kysely';
import { testDatabase } from '../../test/support/database.ts';
import { schemaDump } from './schema_dump.ts';
import { schemaTypes } from './schema_types.ts';

const top = path.resolve(import.meta.dirname, '../..');

for (const [file, describe] of [
  ['src/db/schema.ts', schemaTypes],
  ['docs/schema.sql', schemaDump],
] as const) {
  test(`${file} is what the migrations make; otherwise run \`npm run generate\``, async () => {
    const { db } = await testDatabase();
    assert.equal(await readFile(path.join(top, file), 'utf8'), await describe(db));
  });
}

/** Tables with one row, or with those of the moment, which are read whole sooner than an index. */
const fewRows = ['application_settings', 'reference_updates'];

test('every table says what its rows are', async () => {
  const { db } = await testDatabase();
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname not like 'kysely\\_%'
       and obj_description(oid, 'pg_class') is null`.execute(db);
  assert.deepEqual(rows, []);
});

test('every foreign key has an index that finds the rows that point at a row', async () => {
  const { db } = await testDatabase();
  const { rows } = await sql<{ key: string }>`
    select keys.conrelid::regclass || '.' || attname as key
      from pg_constraint keys join pg_attribute on attrelid = conrelid and attnum = conkey[1]
     where contype = 'f' and connamespace = 'public'::regnamespace and conrelid <> all(${fewRows}::text[]::regclass[])
       and not exists (select from pg_index where indrelid = conrelid and indkey[0] = conkey[1]
         and (indpred is null or pg_get_expr(indpred, indrelid) = format('(%I IS NOT NULL)', attname)))
     order by 1`.execute(db);
  assert.deepEqual(
    rows.map(({ key }) => key),
    [],
  );
});

test('every trigger is listed in migrations/README.md with what it keeps, but for those made of declarations', async () => {
  const { db } = await testDatabase();
  const { rows } = await sql<{ name: string }>`
    select distinct proname as name from pg_trigger join pg_proc on pg_proc.oid = tgfoid join pg_class on pg_class.oid = tgrelid
     where not tgisinternal and relnamespace = 'public'::regnamespace and tgname !~ '^audit_([a-z]+_)?(added|changed|removed)$' order by 1`.execute(
    db,
  );
  const readme = await readFile(path.join(top, 'migrations/README.md'), 'utf8');
  const listed = [...readme.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, names]) => names!.replaceAll('`', '').split(', '));
  assert.deepEqual(listed.toSorted(), rows.map(({ name }) => name).toSorted());
});
