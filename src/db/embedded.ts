/** The embedded PostgreSQL: it starts and stops with Coppice, and is taken over if Coppice was killed. */
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import {
  type Cluster,
  openCluster,
  removeSocketFolder,
  role,
  runningPostmaster,
  startPostmaster,
} from './postgres_cluster.ts';
import { DatabaseError } from './postgres_programs.ts';
import { prepareReplication } from './postgres_replication.ts';

export { DatabaseError };

export interface EmbeddedDatabase {
  connectionString: string;
  /** Whether this process is the one that stops the database. */
  isOwner: boolean;
  /** Stops the database when this process owns it. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  /**
   * `exclusive` is for the one server, which keeps the database running and becomes its owner as soon as no command owns it. `shared` is for a command: it uses the
   * database of another process, and owns it only if none is running.
   */
  use: 'exclusive' | 'shared';
  /** Whether a commit must survive a power failure; true by default. */
  durable?: boolean;
  /** Whether a server configures it for replication, with a restart if needed; false by default. */
  replicates?: boolean;
  /** Called with a sentence when the database was lost and when it is back. */
  onRestart?: (sentence: string) => void;
  /** Called when the database is permanently lost. */
  onLost?: (error: Error) => void;
}

/** The lock of the process that stops the database. An arbitrary number that must never change. */
const ownerLock = 726_673_000;
/** The lock of the server. It differs from the owner's, because a backup may own the database for an hour and a server must not wait that long. */
const serverLock = 726_673_006;
const databaseName = 'coppice';

const poll_ms = 20;
/** The children of a killed postmaster take a moment to notice; until then a new one refuses to start. */
const startLimit = 15;
/** Replaying the log after a crash may take minutes. */
const startTimeout_ms = 600_000;
/** How long to wait for a server that is stopping. */
const serverTimeout_ms = 2000;
/** How soon PostgreSQL notices that a process waiting for a lock has died. */
const abandonedAfter_ms = 100;

/**
 * Address of a database of the cluster, understood by pg and libpq.
 * @param socketFolder where the socket is
 */
export const socketAddress = (socketFolder: string, database: string): string =>
  `postgresql:///${database}?host=${encodeURIComponent(socketFolder)}&user=${role}`;

/**
 * Makes sure that the database below `data` runs: creates it, starts it, or takes it over from a Coppice that was killed.
 * @param data the folder of everything embedded
 * @throws DatabaseError when it cannot be started, or with `exclusive` when another server runs on it
 */
export async function startEmbedded(data: string, options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { durable = true, replicates = false } = options;
  const cluster = await openCluster(data, durable);
  const watch = await reach(cluster);
  const connectionString = socketAddress(cluster.socketFolder, databaseName);
  if (options.use === 'exclusive' && !(await takeLock(watch, serverLock, serverTimeout_ms))) {
    await watch.end();
    throw new DatabaseError(
      `Another Coppice is running on ${data}. Stop it first, or set COPPICE_DATA to another folder.`,
    );
  }
  const isOwner = await takeLock(watch, ownerLock, 0);
  if (options.use === 'exclusive' && replicates && (await prepareReplication(watch, cluster.folder))) {
    if (isOwner) {
      await stopPostmaster(cluster, watch);
      return startEmbedded(data, options);
    }
    await watch.end();
    throw new DatabaseError(
      'A command is using the database, which has to be restarted for its role in Geo. Try again when it has ended.',
    );
  }
  await makeDatabase(watch);
  if (!isOwner && options.use === 'shared') {
    await watch.end();
    return { connectionString, isOwner, stop: async () => {} };
  }
  const { stop } = own(cluster, watch, isOwner, options);
  return { connectionString, isOwner, stop };
}

/** Connects to the cluster. Starts a postmaster if there is none, and again if that one exits. */
async function reach(cluster: Cluster): Promise<pg.Client> {
  let started = 0;
  let child: ChildProcess | undefined;
  let startAfter = 0;
  const giveUpAt = Date.now() + startTimeout_ms;
  while (Date.now() < giveUpAt) {
    const client = await connectOnce(cluster);
    if (client !== undefined) return client;
    const ended =
      child === undefined || child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
    if (ended && Date.now() >= startAfter && (await runningPostmaster(cluster)) === undefined) {
      if (started === startLimit) break;
      child = await startPostmaster(cluster);
      started += 1;
      startAfter = Date.now() + 100 * started;
    }
    await sleep(poll_ms);
  }
  const log = await readFile(cluster.logFile, 'utf8').catch(() => '');
  throw new DatabaseError(
    `PostgreSQL does not start. The end of ${cluster.logFile} is:\n${log.trimEnd().split('\n').slice(-8).join('\n')}`,
  );
}

/** Undefined while nothing listens, and while PostgreSQL is starting or shutting down. */
async function connectOnce(cluster: Cluster): Promise<pg.Client | undefined> {
  const client = new pg.Client({
    connectionString: socketAddress(cluster.socketFolder, 'postgres'),
    application_name: 'coppice',
  });
  client.on('error', () => {}); // the event `end` follows, which is handled
  try {
    await client.connect();
    return client;
  } catch {
    await client.end().catch(() => {});
    return undefined;
  }
}

/**
 * Takes a lock, which is released with the connection.
 * @param patience_ms how long to wait for its current holder, perhaps Infinity
 */
async function takeLock(client: pg.Client, lock: number, patience_ms: number): Promise<boolean> {
  if (patience_ms === 0) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [lock]);
    return rows[0]!.taken;
  }
  await client.query(`set client_connection_check_interval = ${abandonedAfter_ms}`);
  await client.query(`set lock_timeout = ${Number.isFinite(patience_ms) ? patience_ms : 0}`);
  try {
    await client.query('select pg_advisory_lock($1)', [lock]);
    return true;
  } catch (error) {
    if ((error as pg.DatabaseError).code === '55P03') return false; // lock_not_available
    throw error;
  }
}

/** Whether a server waits for the database, because a command or a stopping server owns it. */
async function isWanted(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    `select from pg_locks where locktype = 'advisory' and classid = 0 and objid = any($1) and objsubid = 1 and not granted
       and database = (select oid from pg_database where datname = current_database())`,
    [[ownerLock, serverLock]],
  );
  return rows.length > 0;
}

async function makeDatabase(client: pg.Client): Promise<void> {
  const { rowCount } = await client.query('select from pg_database where datname = $1', [databaseName]);
  if (rowCount !== 0) return;
  try {
    await client.query(`create database ${databaseName}`);
  } catch (error) {
    const { code } = error as pg.DatabaseError;
    if (code !== '42P04' && code !== '23505') throw error; // duplicate_database, in one of its two forms: another process was faster
  }
}

/**
 * Watches the database through the connection that holds the locks, which ends with the postmaster.
 * @param first the connection
 * @param owned whether it holds the owner's lock; otherwise it waits for the lock and then takes over the running database
 */
function own(cluster: Cluster, first: pg.Client, owned: boolean, options: EmbeddedOptions) {
  const restarts_ms: number[] = [];
  let watch = first;
  let isOwner = owned;
  let isStopping = false;
  let recovery: Promise<void> = Promise.resolve();

  // Until the command that owns the database ends, both use it; then this process owns it.
  const inherit = async () => {
    try {
      if (options.use === 'exclusive') await takeLock(watch, serverLock, Number.POSITIVE_INFINITY);
      await takeLock(watch, ownerLock, Number.POSITIVE_INFINITY);
      isOwner = true;
    } catch {} // the connection has ended, which starts the next recovery
  };

  const recover = async () => {
    const now = Date.now();
    restarts_ms.push(now);
    if (restarts_ms.filter((time) => time > now - 60_000).length > 5)
      throw new DatabaseError('PostgreSQL ended six times within a minute.');
    guard(await reach(cluster));
    options.onRestart?.('The connection to PostgreSQL was lost; it runs again.');
    isOwner = false;
    void inherit();
  };
  const guard = (client: pg.Client) => {
    watch = client;
    client.once('end', () => {
      if (!isStopping) recovery = recover().catch((error) => options.onLost?.(error as Error));
    });
  };
  guard(first);
  if (!isOwner) void inherit();

  const stop = async () => {
    isStopping = true;
    await recovery;
    const isLeft = !isOwner || (await isWanted(watch).catch(() => false));
    await (isLeft ? watch.end().catch(() => {}) : stopPostmaster(cluster, watch));
  };
  return { stop };
}

/**
 * Requests a smart shutdown of PostgreSQL (it waits for other sessions, perhaps of a running command), then a fast one that terminates them, and finally an
 * immediate one. The lock is released only after PostgreSQL has stopped accepting connections, so that no process takes over a database that is stopping.
 */
async function stopPostmaster(cluster: Cluster, watch: pg.Client): Promise<void> {
  const pid = await runningPostmaster(cluster);
  const isGone = async () => (await runningPostmaster(cluster)) !== pid;
  if (pid !== undefined) process.kill(pid, 'SIGTERM');
  await watch.end().catch(() => {});
  if (pid === undefined) return;
  for (const [patience_ms, next] of [
    [2000, 'SIGINT'],
    [20_000, 'SIGQUIT'],
    [5000, undefined],
  ] as const) {
    const giveUpAt = Date.now() + patience_ms;
    while (Date.now() < giveUpAt) {
      if (await isGone()) return await removeSocketFolder(cluster);
      await sleep(poll_ms);
    }
    if (next !== undefined && !(await isGone())) process.kill(pid, next);
  }
  throw new DatabaseError(`PostgreSQL (process ${pid}) does not stop.`);
}
