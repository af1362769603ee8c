import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { anotherDatabase, emptyDatabase, testDatabase } from '../../test/support/database.ts';
import { baseline, knownMigrations, MigrationError, migrate, sinceBaseline } from './migrate.ts';

/** The migrations as they are, and one more. */
async function folderWith(t: TestContext, file: string, statements: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-migrations-'));
  t.after(() => rm(folder, { recursive: true }));
  await cp(path.resolve(import.meta.dirname, '../../migrations'), folder, { recursive: true });
  await writeFile(path.join(folder, file), statements);
  return folder;
}

test('a migration that fails leaves nothing behind and is named', async (t) => {
  const { db, connectionString } = await testDatabase();
  const folder = await folderWith(t, '9001_broken.sql', 'create table half (id integer); select 1 / 0;');
  await assert.rejects(
    migrate(connectionString, { folder }),
    (error) => error instanceof MigrationError && /9001_broken\.sql failed/.test(error.message),
  );
  const { rows } = await sql`select from pg_tables where tablename = 'half'`.execute(db);
  assert.equal(rows.length, 0);
});

test('processes that start together migrate once, and an older version then refuses the database', async (t) => {
  const { connectionString } = await testDatabase();
  const folder = await folderWith(t, '9002_later.sql', 'create table later (id integer);');
  const runs = await Promise.all([1, 2, 3].map(() => migrate(connectionString, { folder })));
  assert.deepEqual(runs.flat(), ['9002_later']);
  await assert.rejects(
    migrate(connectionString),
    (error) => error instanceof MigrationError && /newer version .*9002_later/.test(error.message),
  );
});

test('an index on a large table is built outside a transaction, also after an attempt that was interrupted', async (t) => {
  const { db, connectionString } = await testDatabase();
  const folder = await folderWith(t, '9002_later.sql', 'create table later (id integer);');
  const write = (column: string) =>
    writeFile(
      path.join(folder, '9003_bio.sql'),
      `-- outside a transaction
-- The first part.
drop index concurrently if exists users_bio;
create index concurrently users_bio on users (bio);
create index concurrently if not exists users_place on users (${column});
`,
    );
  await write('nowhere');
  await assert.rejects(migrate(connectionString, { folder }), /9003_bio\.sql failed/);
  await write('location');
  // The build waits for all statements that have begun before, so the other processes must not wait in one.
  const runs = await Promise.all([1, 2, 3].map(() => migrate(connectionString, { folder })));
  assert.deepEqual(
    runs.flat().filter((name) => name !== '9002_later'),
    ['9003_bio'],
  );
  const { rows } = await sql`
    select relname from pg_index join pg_class on pg_class.oid = indexrelid
     where relname in ('users_bio', 'users_place') and indisvalid order by 1`.execute(db);
  assert.deepEqual(rows, [{ relname: 'users_bio' }, { relname: 'users_place' }]);
});

test('a file that arrives after one with a greater number runs, too', async (t) => {
  const { connectionString } = await testDatabase();
  const folder = await folderWith(t, '9002_later.sql', 'create table later (id integer);');
  await writeFile(path.join(folder, '9003_bio.sql'), ''); // The database of this file has both.
  await migrate(connectionString, { folder });
  await writeFile(path.join(folder, '9000_earlier.sql'), 'create table earlier (id integer);');
  await writeFile(path.join(folder, '9004_after.sql'), 'drop table earlier;');
  assert.deepEqual(await migrate(connectionString, { folder }), ['9000_earlier', '9004_after']);
});

/** The names of as many migrations as the baseline replaced. */
const replaced = [
  ...Array.from({ length: baseline.replaced - 1 }, (_, index) => `0${String(index).padStart(3, '0')}_change`),
  baseline.last,
];

test('a database that has what the baseline replaced is recognised, and an earlier one is refused', async () => {
  const { db, connectionString } = await emptyDatabase(anotherDatabase());
  await migrate(connectionString, { up_to: baseline.name });
  const names = async () => {
    const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
    return rows.map(({ name }) => name);
  };
  const record = (recorded: readonly string[]) =>
    db.transaction().execute(async (tx) => {
      await sql`delete from kysely_migration`.execute(tx);
      await sql`insert into kysely_migration select unnest(${recorded}::text[]), '2026-11-01T00:00:00.000Z'`.execute(
        tx,
      );
    });
  await record(replaced.slice(1));
  await assert.rejects(
    migrate(connectionString),
    /last used by an early version of Coppice\. Start commit \w+ with it/,
  );
  assert.ok((await names()).includes(baseline.last));
  await record(replaced);
  const later = (await knownMigrations()).slice(1);
  assert.deepEqual(await migrate(connectionString), later);
  assert.deepEqual(await names(), [baseline.name, ...later]);
});

test('the baseline stands for what it replaced', () => {
  assert.deepEqual(sinceBaseline([]), []);
  assert.deepEqual(sinceBaseline(replaced), [baseline.name]);
  assert.deepEqual(sinceBaseline([...replaced, '0999_later']), [baseline.name, '0999_later']);
  assert.deepEqual(sinceBaseline([baseline.name, '0002_change']), [baseline.name, '0002_change']);
  for (const incomplete of [replaced.slice(1), replaced.slice(0, -1)])
    assert.equal(sinceBaseline(incomplete), undefined);
});

test('a misnamed file or a duplicate number is refused before anything runs', async (t) => {
  const { connectionString } = await testDatabase();
  await assert.rejects(
    migrate(connectionString, { folder: await folderWith(t, 'later.sql', '') }),
    /must be named like/,
  );
  await assert.rejects(migrate(connectionString, { folder: await folderWith(t, '0001_again.sql', '') }), /number 0001/);
});
