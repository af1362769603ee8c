/** Runs the migrations of `migrations/` on a database, forward only. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Logger, runMigrations } from 'graphile-worker';
import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import pg from 'pg';
import { installedFile } from '../foundation/installation.ts';
import { connect, type Database } from './connect.ts';
import { HostClient } from './hosts.ts';

/** Why this database cannot be migrated, as a sentence for the operator. */
export class MigrationError extends Error {}

const defaultFolder = installedFile('migrations');

/** The oldest major version of PostgreSQL that supports all our statements. */
const oldestServer = 15;

/** An arbitrary number that must never change. */
const lock = 726_673_001;
const tryAgain_ms = 100;

/** The session name of processes that migrate, or wait to migrate: unlike all others, they do not depend on the schema yet. */
const migrating = 'coppice migration';

/** The first line of a file whose statements run one by one, each in a transaction of its own or none: `create index concurrently` allows no other. */
const alone = '-- outside a transaction\n';

/** The generated file that runs again, after all others, whenever it has changed: what it creates it also replaces. */
const repeatedFile = 'audited.sql';

/** The baseline migration, which replaced earlier ones: how many there were, and the name of the last one. */
export const baseline = { name: '0001_baseline', replaced: 214, last: '0771_counts_of_topics' };

/** The last commit that contains the replaced migrations. */
export const commitBeforeBaseline = '18b45fda5e14';

export interface MigrateOptions {
  /** Contains `NNNN_name.sql`; by default the migrations of this version. */
  folder?: string;
  /** The name of the last migration to run, for the database of an older version; by default all run. */
  up_to?: string | undefined;
  /** Called, while all other processes that migrate wait, before a database in use is changed; it may throw to prevent that. */
  before?(db: Database): Promise<void>;
}

/**
 * Installs the schema of the job queue and then each new migration in a transaction of its own. Processes that start at the same time wait for each other.
 * @param connectionString for a role that may create tables
 * @returns the names of the migrations that ran
 * @throws MigrationError when the database is newer than this code, its encoding is not UTF8, the role may not create tables, or a file fails
 */
export async function migrate(connectionString: string, options: MigrateOptions = {}): Promise<string[]> {
  const { folder = defaultFolder, up_to, before } = options;
  const migrations = await readMigrations(folder);
  // One connection for the lock and one for the migrator. No time limit, because an index on a large table takes long.
  const db = connect({ connectionString, max: 2, statementTimeout_ms: 0, application_name: migrating });
  try {
    return await db.connection().execute(async (holder) => {
      await refuseOld(holder);
      await waitForOthers(holder);
      const found = await executed(holder);
      const done = sinceBaseline(found) ?? refuseEarly();
      refuseNewer(done, Object.keys(migrations));
      const wanted = up_to === undefined ? migrations : until(up_to, migrations);
      const isBehind = Object.keys(wanted).some((name) => !done.includes(name));
      if (isBehind) await refuseUnfit(holder);
      if (isBehind && done.length > 0) await before?.(holder);
      if (done.length < found.length) await recordBaseline(holder);
      await installQueue(connectionString);
      const ran = await runNew(db, done, wanted);
      if (up_to === undefined) await runRepeated(db, folder);
      await keepSequences(holder);
      return ran;
    });
  } finally {
    await db.destroy(); // which also releases the lock
  }
}

/**
 * Runs `work` while no migration runs, so that no process of Coppice starts to use the database meanwhile.
 * @param work receives a connection that does not count as a session in use
 */
export async function whileNoneStarts<T>(connectionString: string, work: (db: Database) => Promise<T>): Promise<T> {
  const db = connect({ connectionString, max: 1, statementTimeout_ms: 0, application_name: migrating });
  try {
    return await db.connection().execute(async (holder) => {
      await waitForOthers(holder);
      return await work(holder);
    });
  } finally {
    await db.destroy(); // which also releases the lock
  }
}

/** Polls for the lock: a waiting statement holds a snapshot, and an index that is built concurrently would wait for that snapshot in turn. */
async function waitForOthers(db: Database): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ isMine: boolean }>`select pg_try_advisory_lock(${lock}) as "isMine"`.execute(db);
    if (rows[0]!.isMine) return;
    await setTimeout(tryAgain_ms);
  }
}

interface FileMigration extends Migration {
  isAlone: boolean;
}

type Migrations = Record<string, FileMigration>;

async function readMigrations(folder: string): Promise<Migrations> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql') && name !== repeatedFile).sort();
  const migrations: Migrations = {};
  const numbers = new Set<string>();
  for (const file of names) {
    const [, name, number] = /^((\d{4})_[a-z0-9_]+)\.sql$/.exec(file) ?? [];
    if (name === undefined || number === undefined)
      throw new MigrationError(`migrations/${file} must be named like 0001_users.sql.`);
    if (numbers.has(number)) throw new MigrationError(`Two migrations have the number ${number}.`);
    numbers.add(number);
    const text = await readFile(path.join(folder, file), 'utf8');
    const isAlone = text.startsWith(alone);
    // Statements that are sent together are one transaction.
    const parts = isAlone ? text.split(/(?<=;)\n/).filter((part) => part.trim() !== '') : [text];
    const up = async (db: Kysely<unknown>) => {
      for (const part of parts) await sql.raw(part).execute(db);
    };
    migrations[name] = { up, isAlone };
  }
  return migrations;
}

const until = (last: string, migrations: Migrations): Migrations =>
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

/**
 * Checked before anything is created, because the errors of the statements themselves do not explain the solution. Some migrations create extensions, which needs
 * the same right on the database.
 */
async function refuseUnfit(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string; role: string; encoding: string; mayCreate: boolean }>`
    select current_database() as name, current_user as role, getdatabaseencoding() as encoding,
           has_database_privilege(current_database(), 'create') and has_schema_privilege('public', 'create') as "mayCreate"`.execute(
    db,
  );
  const { name, role, encoding, mayCreate } = rows[0]!;
  if (encoding !== 'UTF8')
    throw new MigrationError(
      `The database ${name} has the encoding ${encoding}, which cannot hold every text. Create it with UTF8: CREATE DATABASE "${name}" ENCODING 'UTF8' TEMPLATE template0.`,
    );
  if (!mayCreate)
    throw new MigrationError(
      `The role ${role} may not create tables in the database ${name}. Make it the owner: ALTER DATABASE "${name}" OWNER TO "${role}".`,
    );
}

/**
 * The number of sessions of Coppice that depend on the schema of the database: servers, workers and commands. Sessions that migrate, or wait to migrate, do not
 * count. The role of the connection sees only its own sessions, unless it may see all.
 */
export async function sessionsInUse(db: Database): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name like 'coppice%' and application_name <> ${migrating}`.execute(
    db,
  );
  return rows[0]!.count;
}

/** The names of the migrations of this version, in order. */
export async function knownMigrations(folder: string = defaultFolder): Promise<string[]> {
  return Object.keys(await readMigrations(folder));
}

/** The names of the migrations that ran on the database. */
async function executed(db: Database): Promise<string[]> {
  const { rows: tables } =
    await sql`select from pg_tables where schemaname = 'public' and tablename = 'kysely_migration'`.execute(db);
  if (tables.length === 0) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * The names of migrations as this version calls them: one name for all that the baseline replaced.
 * @param done the names of a database or a backup
 * @returns undefined when some of the replaced migrations are missing
 */
export function sinceBaseline(done: readonly string[]): string[] | undefined {
  if (done.length === 0 || done.includes(baseline.name)) return [...done];
  const replaced = done.filter((name) => name <= baseline.last);
  if (replaced.length !== baseline.replaced || !replaced.includes(baseline.last)) return undefined;
  return [baseline.name, ...done.filter((name) => name > baseline.last)];
}

function refuseEarly(): never {
  throw new MigrationError(
    `The database was last used by an early version of Coppice. Start commit ${commitBeforeBaseline} with it once, then this version.`,
  );
}

/** For a database with the replaced migrations: only the names change. */
async function recordBaseline(db: Database): Promise<void> {
  await sql`
    with replaced as (delete from kysely_migration where name <= ${baseline.last} returning "timestamp")
    insert into kysely_migration (name, "timestamp") select ${baseline.name}, max("timestamp") from replaced`.execute(
    db,
  );
}

/** Old code must not write to a newer schema. */
function refuseNewer(done: readonly string[], known: readonly string[]): void {
  const unknown = done.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw new MigrationError(
    `The database was last used by a newer version of Coppice: it has ${unknown.join(', ')}, which this version does not know. ` +
      'Start that version or a later one, or restore a backup made before the update.',
  );
}

/** The queue comes first, so that migrations can enqueue jobs. It has its own pool, without our value parsers. */
async function installQueue(connectionString: string): Promise<void> {
  const pool = new pg.Pool({ Client: HostClient, connectionString, max: 1, application_name: migrating });
  // The queue warns about pools and connections without a listener. The failing statement reports the error anyway.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  try {
    await runMigrations({ pgPool: pool, logger: new Logger(() => () => {}) });
  } finally {
    await pool.end();
  }
}

/**
 * A checkpoint, if PostgreSQL logs as little as it can: it then does not log the values that a sequence gives in the transaction that creates it, nor the next 32
 * until a checkpoint, and gives them again after a crash. It also follows starts that migrate nothing: the process that migrated may have died before it.
 */
async function keepSequences(db: Database): Promise<void> {
  const { rows } = await sql<{ isMinimal: boolean }>`
    select current_setting('wal_level') = 'minimal' and pg_has_role(current_user, 'pg_checkpoint', 'member') as "isMinimal"`.execute(
    db,
  );
  if (rows[0]!.isMinimal) await sql`checkpoint`.execute(db);
}

async function runNew(db: Database, done: readonly string[], migrations: Migrations): Promise<string[]> {
  const provider = { getMigrations: async () => migrations };
  const new_names = Object.keys(migrations).filter((name) => !done.includes(name));
  for (const name of new_names) {
    const disableTransactions = migrations[name]!.isAlone;
    // A migration that was written earlier may arrive later, through a merge: its number is then below the last that ran.
    const migrator = new Migrator({ db, provider, disableTransactions, allowUnorderedMigrations: true });
    // migrateUp runs one file in a transaction; migrateToLatest would run all files in a single one.
    const { error, results = [] } = await migrator.migrateUp();
    if (error === undefined) continue;
    const reason = error instanceof Error ? error.message : String(error);
    throw new MigrationError(
      `${results[0] ? `migrations/${results[0].migrationName}.sql failed` : 'The migrations do not fit'}: ${reason}`,
      { cause: error },
    );
  }
  return new_names;
}

/** Runs the generated file, unless it is what ran last. */
async function runRepeated(db: Database, folder: string): Promise<void> {
  const text = await readFile(path.join(folder, repeatedFile), 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined; // a folder of a test
    throw error;
  });
  if (text === undefined) return;
  const digest = createHash('sha256').update(text).digest();
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql`
      insert into repeated_migrations (name, digest) values (${repeatedFile}, ${digest})
      on conflict (name) do update set digest = excluded.digest where repeated_migrations.digest <> excluded.digest returning name`.execute(
      tx,
    );
    if (rows.length > 0) await sql.raw(text).execute(tx);
  });
}
