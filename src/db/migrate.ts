/** Brings a database to the state that the files of `migrations/` describe. Forward only. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Logger, runMigrations } from 'graphile-worker';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import pg from 'pg';
import { connect, type Database } from './connect.ts';

/** A reason not to touch this database, as a sentence for the operator. */
export class MigrationError extends Error {}

const defaultFolder = path.resolve(import.meta.dirname, '../../migrations');

/** The oldest major version of PostgreSQL that every statement of ours runs on. */
const oldestServer = 15;

/** Any number; it only has to be the same in every process of every version. */
const lock = 726_673_001;

/**
 * Installs what is missing: the schema of the job queue, then each new file of the folder in a transaction of its own.
 * Processes that start at once wait for each other.
 * @param connectionString of a role that may create tables
 * @param folder holds `NNNN_name.sql`
 * @param upTo the name of the last migration to run, for a database that an older version has left; all of them when left out
 * @returns the names of the migrations that were run now
 * @throws MigrationError when the database is newer than this code, or a file fails
 */
export async function migrate(connectionString: string, folder: string = defaultFolder, upTo?: string): Promise<string[]> {
  const migrations = await readMigrations(folder);
  // One connection holds the lock, the migrator needs another; no time limit, since an index over a large table takes its time.
  const db = connect({ connectionString, max: 2, statementTimeout_ms: 0 });
  try {
    return await db.connection().execute(async (holder) => {
      await refuseOld(holder);
      await sql`select pg_advisory_lock(${lock})`.execute(holder);
      await refuseNewer(holder, Object.keys(migrations));
      await installQueue(connectionString);
      return await runNew(db, upTo === undefined ? migrations : until(upTo, migrations));
    });
  } finally {
    await db.destroy(); // and with its connection goes the lock
  }
}

async function readMigrations(folder: string): Promise<Record<string, Migration>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  const migrations: Record<string, Migration> = {};
  const numbers = new Set<string>();
  for (const file of names) {
    const [, name, number] = /^((\d{4})_[a-z0-9_]+)\.sql$/.exec(file) ?? [];
    if (name === undefined || number === undefined)
      throw new MigrationError(`migrations/${file} must be named like 0001_users.sql.`);
    if (numbers.has(number)) throw new MigrationError(`Two migrations have the number ${number}.`);
    numbers.add(number);
    const text = await readFile(path.join(folder, file), 'utf8');
    migrations[name] = { up: async (db) => void (await sql.raw(text).execute(db)) };
  }
  return migrations;
}

const until = (last: string, migrations: Record<string, Migration>) =>
  Object.fromEntries(Object.entries(migrations).filter(([name]) => name <= last));

/** Refused by version, because the statement that an older one fails on may come much later than the start. */
async function refuseOld(db: Database): Promise<void> {
  const { rows } = await sql<{ number: number; text: string }>`
    select current_setting('server_version_num')::int as number, current_setting('server_version') as text`.execute(db);
  const { number, text } = rows[0]!;
  if (number >= oldestServer * 10_000) return;
  throw new MigrationError(
    `The database server is PostgreSQL ${text}; Coppice needs ${oldestServer} or newer. Update the server, or leave COPPICE_DATABASE_URL out.`,
  );
}

/** The names of the migrations that this code knows, in their order. */
export async function knownMigrations(folder: string = defaultFolder): Promise<string[]> {
  return Object.keys(await readMigrations(folder));
}

/** Code must not write rows into a schema that it does not know. */
async function refuseNewer(db: Database, known: string[]): Promise<void> {
  const { rows: tables } =
    await sql`select from pg_tables where schemaname = 'public' and tablename = 'kysely_migration'`.execute(db);
  if (tables.length === 0) return;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const unknown = rows.map((row) => row.name).filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new MigrationError(
    `The database was last used by a newer version of Coppice: it has ${unknown.join(', ')}, which this version does not know. ` +
      'Start that version or a later one, or restore a backup made before the update.',
  );
}

/** The queue comes first, so that a migration may enqueue a job. It has its own pool, without our value parsers. */
async function installQueue(connectionString: string): Promise<void> {
  const pool = new pg.Pool({ connectionString, max: 1, application_name: 'coppice' });
  // It warns about a pool or connection without an error listener; the failing statement reports the error anyway.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) });
  } finally {
    await pool.end();
  }
}

async function runNew(db: Database, migrations: Record<string, Migration>): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const names: string[] = [];
  // migrateUp takes one step in one transaction; migrateToLatest would put all files into a single one.
  for (;;) {
    const { error, results = [] } = await migrator.migrateUp();
    const [result] = results;
    if (error !== undefined) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new MigrationError(
        `${result ? `migrations/${result.migrationName}.sql failed` : 'The migrations do not fit'}: ${reason}`,
        {
          cause: error,
        },
      );
    }
    if (result === undefined) return names;
    names.push(result.migrationName);
  }
}
