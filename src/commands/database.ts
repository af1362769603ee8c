import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { copyAfterMigrations } from '../areas/geo/following/index.ts';
import type { Config } from '../config.ts';
import { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from '../db/embedded.ts';
import { connect, type Database, HostClient, hostsOf } from '../db/index.ts';
import { migrate, sessionsInUse, whileNoneStarts } from '../db/migrate.ts';
import { secretKeyFile } from '../services/index.ts';
import { OperatorError } from './command.ts';
import { databaseReason } from './reasons.ts';
import { listenForStop } from './stop_request.ts';
import { refuseUnfinishedRestore } from './unfinished_restore.ts';

export interface OpenDatabase {
  db: Database;
  connectionString: string;
  /** The migrations that ran this time. */
  migrated: string[];
}

type Use = Pick<EmbeddedOptions, 'use' | 'onRestart' | 'onLost'>;

/** A server that does not respond in this time counts as unreachable. */
const reachTimeout_ms = 15_000;
/** A statement that never ends must not keep the process alive. */
const closeTimeout_ms = 5000;
/** How long a process that has just stopped may still be seen in the database. */
const farewell_ms = 5000;
const tryAgain_ms = 100;

/**
 * Runs `work` with the database as it is: the configured server, or the embedded one, which is stopped afterwards unless another
 * process owns it.
 */
export async function withServer<T>(
  config: Config,
  use: Use,
  work: (server: Pick<EmbeddedDatabase, 'connectionString' | 'isOwner'>) => Promise<T>,
): Promise<T> {
  const server = config.databaseUrl
    ? await reachExternal(config.databaseUrl)
    : await startEmbedded(config.data, { ...use, replicates: config.geo.role !== undefined });
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

/**
 * Tries the database before anything depends on it.
 * @throws OperatorError when it cannot be reached
 */
async function reachExternal(connectionString: string) {
  const hosts = hostsOf(connectionString);
  for (const [index, host] of hosts.entries()) {
    const client = new HostClient({
      connectionString,
      connectionTimeoutMillis: reachTimeout_ms,
      application_name: 'coppice',
    });
    client.on('error', () => {}); // connecting reports it as well
    try {
      await client.connect();
      break;
    } catch (error) {
      if (index === hosts.length - 1) throw new OperatorError(databaseReason(error, host), { cause: error });
    } finally {
      await client.end().catch(() => {});
    }
  }
  // No process of Coppice starts or stops an external server.
  return { connectionString, isOwner: true, stop: async () => {} };
}

/**
 * Refuses a database that another process uses. Processes of versions that do not name their sessions still hold the lock of the embedded database.
 * @param isOwner whether no other process holds the embedded database
 * @param reason the sentence of the refusal
 * @throws OperatorError
 */
async function refuseOthers(db: Database, isOwner: boolean, reason: string): Promise<void> {
  const giveUpAt = Date.now() + farewell_ms;
  while (isOwner && Date.now() < giveUpAt) {
    if ((await sessionsInUse(db)) === 0) return;
    await sleep(tryAgain_ms);
  }
  throw new OperatorError(reason);
}

/** A process of an older version would no longer find the columns that it reads, and answer every request with an error. */
const usedByOlder =
  'This version of Coppice has to migrate the database, but another process of Coppice is using it. Stop that process first: an older version cannot work with the new schema.';

/**
 * Refuses a data folder whose secret key is missing although the database was used with one: a new key could decrypt nothing.
 * @throws OperatorError
 */
async function refuseMissingKey({ secretKey, data }: Config, db: Database): Promise<void> {
  const file = secretKeyFile({ data });
  if (secretKey !== undefined || existsSync(file)) return;
  const known = await db.selectFrom('instance').select('id').executeTakeFirst();
  if (known === undefined) return;
  throw new OperatorError(
    `${file} is missing, but the database has values that were encrypted with a secret key. Put the file back (a backup has it), or set COPPICE_SECRET_KEY.`,
  );
}

/**
 * The greatest number of connections of a process to PostgreSQL. With more, statements share the processors instead of waiting for them in order:
 * transactions hold their locks for longer, and each connection plans all statements for itself. Under overload on two processors, 20 answered a tenth
 * fewer requests than 8, and took 200 MB more.
 */
export const maximumConnections = Math.max(12, Math.min(20, 4 * availableParallelism()));

/** How long requests wait for an external database that is away: another host may take over. The embedded one is started anew, of which the log tells. */
export const patienceOf = ({ databaseUrl }: Pick<Config, 'databaseUrl'>): number =>
  databaseUrl === undefined ? 0 : 10_000;

/**
 * The same with a migrated database.
 * @param max the greatest number of connections of the pool
 */
export async function withDatabase<T>(
  config: Config,
  use: Use,
  max: number,
  work: (open: OpenDatabase) => Promise<T>,
): Promise<T> {
  await refuseUnfinishedRestore(config);
  return await withServer(config, use, async ({ connectionString, isOwner }) => {
    const migrated = await migrate(connectionString, {
      before: async (db) => {
        await refuseOthers(db, isOwner, usedByOlder);
        if (config.geo.role === 'secondary') await copyAfterMigrations(db);
      },
    });
    const db = connect({ connectionString, max, patience_ms: patienceOf(config) });
    try {
      await refuseMissingKey(config, db);
      return await work({ db, connectionString, migrated });
    } finally {
      await Promise.race([db.destroy(), sleep(closeTimeout_ms, undefined, { ref: false })]);
    }
  });
}

/**
 * Runs `work` with the migrated database when no other process uses it; processes that start meanwhile wait.
 * @param reason what the operator reads when another process uses the database
 * @throws OperatorError
 */
export async function alone<T>(config: Config, reason: string, work: (db: Database) => Promise<T>): Promise<T> {
  await refuseUnfinishedRestore(config);
  const interrupted = interruption();
  return await withServer(config, { use: 'shared' }, async ({ connectionString, isOwner }) => {
    await migrate(connectionString, { before: (db) => refuseOthers(db, isOwner, usedByOlder) });
    return await whileNoneStarts(connectionString, async (db) => {
      await refuseOthers(db, isOwner, reason);
      interrupted.throwIfAborted();
      await refuseMissingKey(config, db);
      return await work(db);
    });
  });
}

/** The same for a short command: it shares the database, and stops it properly when it is interrupted. */
export async function briefly<T>(config: Config, work: (open: OpenDatabase) => Promise<T>): Promise<T> {
  const stop = listenForStop();
  return await withDatabase(config, { use: 'shared' }, 2, async (open) => {
    const interrupted = stop.first.then(() => {
      throw new OperatorError('Interrupted.');
    });
    return await Promise.race([work(open), interrupted]);
  });
}

/**
 * A signal that fires when the operator interrupts the command, for commands that must clean up before they exit.
 * @returns it, aborted with an OperatorError
 */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  void listenForStop().first.then(() => controller.abort(new OperatorError('Interrupted.')));
  return controller.signal;
}
