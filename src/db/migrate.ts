/** Runs the migrations of `migrations/` on a database, forward only. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Logger, runMigrations } from 'graphile-worker';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import pg from 'pg';
import { installedFile } from '../installation.ts';
import { connect, type Database } from './connect.ts';

/** Why this database cannot be migrated, as a sentence for the operator. */
export class MigrationError extends Error {}

const defaultFolder = installedFile('migrations');

/** The oldest major version of PostgreSQL that supports all our statements. */
const oldestServer = 15;

/** An arbitrary number that must never change. */
const lock = 726_673_001;

/**
 * Installs the schema of the job queue and then each new migration in a transaction of its own. Processes that start at the same time wait for each other.
 * @param connectionString for a role that may create tables
 * @param folder contains `NNNN_name.sql`
 * @param upTo the name of the last migration to run, for the database of an older version; by default all run
 * @returns the names of the migrations that ran
 * @throws MigrationError when the database is newer than this code, or a file fails
 */
export async function migrate(connectionString: string, folder: string = defaultFolder, upTo?: string): Promise<string[]> {
  const migrations = await readMigrations(folder);
  // One connection for the lock and one for the migrator. No time limit, because an index on a large table takes long.
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
    await db.destroy(); // which also releases the lock
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

/** Checked by version, because an older server may fail only much later, at some statement. */
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

/** Old code must not write to a schema that it does not know. */
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

/** The queue comes first, so that migrations can enqueue jobs. It has its own pool, without our value parsers. */
async function installQueue(connectionString: string): Promise<void> {
  const pool = new pg.Pool({ connectionString, max: 1, application_name: 'coppice' });
  // The queue warns about pools and connections without a listener. The failing statement reports the error anyway.
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
  // migrateUp runs one file in a transaction; migrateToLatest would run all files in a single one.
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
