import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { areaServices } from '../areas/index.ts';
import type { Blobs } from '../blobs/index.ts';
import type { Config } from '../config.ts';
import { HostClient } from '../db/index.ts';
import { closeReaders } from '../git/index.ts';
import { blobsOf, servicesFor } from '../services/index.ts';
import { counted } from '../texts/index.ts';
import { ArchiveError } from '../upkeep/archive.ts';
import { RestoreError, restore as restoreBackup } from '../upkeep/restore.ts';
import { restoreOne } from '../upkeep/restore_one.ts';
import { type Command, OperatorError, required } from './command.ts';
import { interruption, withDatabase, withServer } from './database.ts';
import {
  markName,
  markRestore,
  type UnfinishedRestore,
  unfinishedRestore,
  unmarkRestore,
} from './unfinished_restore.ts';

/** Files that any command may create in an unused data folder. */
const ignored = ['cache', 'lost+found'];
/** Files of the embedded database, which runs while a killed restore is undone. */
const databaseNames = ['postgres', 'postgres.log'];

export const restore: Command = {
  summary: 'Load a backup into an empty server, or one repository or file of it into a server that lost it',
  help: `Options
  --from FILE        required; written by \`backup\` of this version or an earlier one
  --only PATH        restores one repository or one large file into the server that the backup was made of, also while it runs. PATH is that of
                     a project (orchard/apples) or snippet (snippets/7, orchard/apples/snippets/7), or the file as \`check\` names it

Without --only, the data folder, the storages and the bucket of COPPICE_BLOBS must be empty, and so must the database if COPPICE_DATABASE_URL names one. If restoring fails, they are
empty again. A restore that was killed is started anew by running it again.

With --only, nothing that is there is removed. A repository gets the objects of the backup. Branches and tags that are missing, or whose commit is
lost, are set: where the last push left them, if that commit exists, otherwise as in the backup. Those that were deleted since stay deleted.`,
  options: { from: { type: 'string' }, only: { type: 'string' } },
  run: async (given, config) => {
    const file = path.resolve(required(given, 'from'));
    if (!(await stat(file).catch(() => undefined))?.isFile()) throw new OperatorError(`There is no file ${file}.`);
    if (given.text.only !== undefined) return await restorePart(config, file, given.text.only);
    const folders = foldersOf(config);
    const unfinished = await unfinishedRestore(config);
    for (const folder of folders) if (!unfinished?.folders.includes(folder)) await refuseFull(folder);
    const bucket = bucketOf(config);
    if (bucket && unfinished?.bucket !== bucket.address) await refuseFullBucket(bucket);
    const absent = folders.filter((folder) => !existsSync(folder));
    const signal = interruption();
    // The content of the folders belongs to this restore: they were empty, or the restore that filled them no longer holds the lock.
    let isAlone = unfinished === undefined;
    try {
      await withServer(config, { use: 'exclusive' }, async ({ connectionString }) => {
        await using _lock = await lockRestore(connectionString);
        isAlone = true;
        if (unfinished) await undo(unfinished, connectionString, bucket);
        const emptyDatabase = await refuseUsed(connectionString);
        await markRestore(config, { folders, emptyDatabase, ...(bucket ? { bucket: bucket.address } : {}) });
        for (const { path: folder } of config.storages) await mkdir(folder, { recursive: true, mode: 0o700 });
        const result = await restoreBackup({ connectionString, config, file, signal }).catch(async (error) => {
          if (emptyDatabase && config.databaseUrl) await emptyAgain(connectionString);
          throw error;
        });
        await unmarkRestore(config);
        report(result);
      });
    } catch (error) {
      if (isAlone) {
        for (const folder of folders) await clear(folder);
        if (bucket) await emptyBucket(bucket);
        await unmarkRestore(config);
        for (const folder of absent) await rm(folder, { recursive: true, force: true });
      }
      explain(error, file);
    }
    return 0;
  },
};

/** A server may be running: restored objects are added in the same way as by a push or an upload. */
async function restorePart(config: Config, file: string, part: string): Promise<number> {
  const signal = interruption();
  return await withDatabase(config, { use: 'shared' }, 4, async ({ db, connectionString }) => {
    try {
      const services = servicesFor(config, db, areaServices);
      const { done, lost } = await restoreOne({ services, connectionString, config, file, path: part, signal });
      for (const sentence of done) console.log(sentence);
      for (const sentence of lost) console.error(sentence);
      return lost.length === 0 ? 0 : 1;
    } catch (error) {
      return explain(error, file);
    } finally {
      await closeReaders();
    }
  });
}

/** An arbitrary number that must never change. */
const restoreLock = 726_673_008;
/** The session of a killed restore ends as soon as its connection is read. */
const lockTimeout_ms = 5000;

/**
 * Two concurrent restores would each remove the other's files.
 * @throws OperatorError
 */
async function lockRestore(connectionString: string): Promise<AsyncDisposable> {
  const client = await connected(connectionString);
  try {
    await client.query(`set lock_timeout = ${lockTimeout_ms}`);
    await client.query('select pg_advisory_lock($1)', [restoreLock]);
  } catch (error) {
    await client.end();
    if (!(error instanceof pg.DatabaseError && error.code === '55P03')) throw error; // lock_not_available
    throw new OperatorError('Another restore into this database is running.', { cause: error });
  }
  return { [Symbol.asyncDispose]: () => client.end() };
}

/** Removes the remains of a killed restore. The embedded database stays, since it runs; its tables are dropped. */
async function undo(
  { folders, emptyDatabase, bucket: marked }: UnfinishedRestore,
  connectionString: string,
  bucket: Blobs | undefined,
): Promise<void> {
  if (bucket && marked === bucket.address) await emptyBucket(bucket);
  for (const folder of folders) await clear(folder, databaseNames);
  if (emptyDatabase) await emptyAgain(connectionString);
}

/** Corrupted content may reach the database before its checksum is read. */
const isMisfit = (error: unknown) => error instanceof pg.DatabaseError && /^(08P01|22|23|42)/.test(error.code ?? '');

function explain(error: unknown, file: string): never {
  if (error instanceof RestoreError || error instanceof ArchiveError)
    throw new OperatorError(`${error.message} Nothing was restored.`, { cause: error });
  if (isMisfit(error))
    throw new OperatorError(
      `${file} is damaged: its rows do not fit (${(error as Error).message}). Nothing was restored.`,
      {
        cause: error,
      },
    );
  throw error;
}

function report({ created_at, repositories, emptied }: Awaited<ReturnType<typeof restoreBackup>>): void {
  console.log(
    `Restored: the database as it was at ${created_at}, and ${counted(repositories, 'repository', 'repositories')}.`,
  );
  for (const full_path of emptied)
    console.log(`${full_path} was deleted while the backup ran; it is back, with an empty repository.`);
}

/** Storages inside the data folder are empty if the data folder is. */
function foldersOf({ data, storages, blobs }: Config): string[] {
  const folders = [...storages.map((storage) => storage.path), ...(blobs.kind === 'folder' ? [blobs.path] : [])];
  return [data, ...folders.filter((folder) => !folder.startsWith(`${data}${path.sep}`))];
}

/** The store of blobs, unless it is one of the folders. */
const bucketOf = (config: Config): Blobs | undefined => (config.blobs.kind === 's3' ? blobsOf(config) : undefined);

async function refuseFullBucket(bucket: Blobs): Promise<void> {
  for await (const key of bucket.keys())
    throw new OperatorError(
      `${bucket.address} is not empty (it contains ${bucket.placeOf(key)}). Restore into an empty bucket, or below another prefix.`,
    );
}

async function emptyBucket(bucket: Blobs): Promise<void> {
  for await (const key of bucket.keys()) await bucket.remove(key);
  await bucket.sweep(0);
}

async function entriesOf(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => !ignored.includes(name));
}

async function refuseFull(folder: string): Promise<void> {
  const [first] = await entriesOf(folder);
  if (first !== undefined)
    throw new OperatorError(
      `${folder} is not empty (it contains ${first}). Restore into an empty folder: set COPPICE_DATA to another one.`,
    );
}

/** Removes only what was added since the folder was found empty, and leaves the mark and the names in `kept`. */
async function clear(folder: string, kept: readonly string[] = []): Promise<void> {
  for (const name of await entriesOf(folder))
    if (name !== markName && !kept.includes(name)) await rm(path.join(folder, name), { recursive: true, force: true });
}

/**
 * @returns whether the database has no table at all, so that it can be emptied again
 * @throws OperatorError when it has users
 */
async function refuseUsed(connectionString: string): Promise<boolean> {
  return await withClient(connectionString, async (client) => {
    const { rows: tables } = await client.query<{ tablename: string }>(
      "select tablename from pg_tables where schemaname in ('public', 'graphile_worker')",
    );
    if (!tables.some(({ tablename }) => tablename === 'users')) return tables.length === 0;
    const { rows: users } = await client.query('select from users limit 1');
    if (users.length > 0)
      throw new OperatorError('The database of COPPICE_DATABASE_URL is not empty. Restore into an empty database.');
    return false;
  });
}

/** Drops everything that the migrations have created, except for extensions, which an administrator may have created. */
async function emptyAgain(connectionString: string): Promise<void> {
  await withClient(connectionString, async (client) => {
    await client.query('drop schema if exists graphile_worker cascade');
    const { rows } = await client.query<{ statement: string }>(`
      select format('drop table if exists %s cascade', oid::regclass) as statement from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not ${isOfExtension('pg_class', 'pg_class.oid')}
      union all
      select format('drop routine if exists %s cascade', oid::regprocedure) from pg_proc
       where pronamespace = 'public'::regnamespace and not ${isOfExtension('pg_proc', 'pg_proc.oid')}`);
    for (const { statement } of rows) await client.query(statement);
  });
}

const isOfExtension = (catalog: string, oid: string) =>
  `exists (select from pg_depend x where x.classid = '${catalog}'::regclass and x.objid = ${oid} and x.deptype = 'e')`;

async function withClient<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connected(connectionString);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new HostClient({ connectionString });
  client.on('error', () => {}); // the failing statement reports it as well
  await client.connect();
  return client;
}
