/** A database as the previous release has left it. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { connect, type Database } from '../../src/db/index.ts';
import { migrate } from '../../src/db/migrate.ts';

/** The last migration of the previous release. */
const previous = '0001_baseline';

/**
 * What that release had in its tables after its API was used: a line a row, the name of the table and its columns as JSON. Secrets that its own key sealed, and its
 * license, are left out.
 */
const rowsFile = path.join(import.meta.dirname, 'fixtures/release_0001.txt');

/** The columns of a table that are not computed from others. */
async function storedColumns(db: Database, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns
     where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'`.execute(db);
  return rows.map(({ name }) => name);
}

async function fill(db: Database): Promise<void> {
  const rows = new Map<string, string[]>();
  for (const line of (await readFile(rowsFile, 'utf8')).trimEnd().split('\n')) {
    const [, table, row] = /^(\w+) (.*)$/.exec(line)!;
    rows.set(table!, [...(rows.get(table!) ?? []), row!]);
  }
  await db.connection().execute(async (connection) => {
    // The rows are consistent as they are: neither triggers nor keys have anything to do.
    await sql`set session_replication_role = replica`.execute(connection);
    for (const [table, lines] of rows) {
      const columns = sql.join((await storedColumns(connection, table)).map((column) => sql.ref(column)));
      await sql`delete from ${sql.table(table)}`.execute(connection);
      await sql`insert into ${sql.table(table)} (${columns}) overriding system value
                select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${`[${lines.join(',')}]`}::json)`.execute(
        connection,
      );
    }
    await sql`set session_replication_role = origin`.execute(connection);
    const sequences = await sql<{ table: string; column: string }>`
      select table_name as table, column_name as column from information_schema.columns
       where table_schema = 'public' and is_identity = 'YES'`.execute(connection);
    for (const { table, column } of sequences.rows)
      await sql`select setval(pg_get_serial_sequence(${table}, ${column}), (select coalesce(max(${sql.ref(column)}), 0) + 1 from ${sql.table(table)}), false)`.execute(
        connection,
      );
  });
}

/** Gives an empty database the schema and the rows of that release. */
export async function installPreviousRelease(connectionString: string): Promise<void> {
  await migrate(connectionString, { up_to: previous });
  const db = connect({ connectionString, max: 1 });
  await fill(db);
  await db.destroy();
}
