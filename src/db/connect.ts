import type { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely } from 'kysely';
import pg from 'pg';
import { Semaphore } from '../foundation/semaphore.ts';
import { Dialect } from './dialect.ts';
import { maximumWait_ms } from './driver.ts';
import { Listening, type Notified } from './notifications.ts';
import { PreparingClient } from './prepared.ts';
import type { DB } from './schema.ts';
import { hasLostDatabase } from './unavailable.ts';
import { types } from './values.ts';

/** Runs statements: the pool, or a transaction on it. */
export type Database = Kysely<DB>;

/** How often a database that is away is tried. */
const tryAgain_ms = 200;

/** A pool that records since when callers have been waiting for a connection. */
class WatchedPool extends pg.Pool {
  /** The start times of the waits, longest wait first. */
  readonly #asked = new Set<{ at: number }>();
  /** The connections beside the pool, which end with it. */
  readonly #listening: Listening[] = [];
  /** How long a caller waits for a database that is away, in milliseconds. */
  patience_ms = 0;
  /** Called with each audit event that was committed, as JSON. */
  audited: ((told: string) => void) | undefined;

  listen(channel: string, listener: { notified: Notified; lost: () => void }): Listening {
    const { connectionString, application_name, keepAlive } = this.options;
    const config = { connectionString, application_name, keepAlive, connectionTimeoutMillis: maximumWait_ms };
    const listening = new Listening(config, channel, listener);
    this.#listening.push(listening);
    return listening;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares two overloads; Kysely uses the one that returns a promise.
  override async end(...args: any[]): Promise<any> {
    await Promise.all(this.#listening.map((each) => each.end()));
    return super.end(...(args as []));
  }

  get delay_ms(): number {
    const [first] = this.#asked;
    return first ? performance.now() - first.at : 0;
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares two overloads; Kysely uses the one that returns a promise.
  override connect(...args: any[]): any {
    const asked = { at: performance.now() };
    this.#asked.add(asked);
    const connecting =
      args.length === 0 ? this.#connected() : (super.connect(...(args as [])) as Promise<pg.PoolClient>);
    const forget = () => this.#asked.delete(asked);
    connecting.then(forget, forget);
    return connecting;
  }

  /** Nothing was sent yet, so a database that comes back in time is not noticed by callers. */
  async #connected(): Promise<pg.PoolClient> {
    const giveUpAt = performance.now() + this.patience_ms;
    for (;;) {
      try {
        return await super.connect();
      } catch (error) {
        if (this.ending || performance.now() > giveUpAt || !hasLostDatabase(error)) throw error;
        await sleep(tryAgain_ms, undefined, { ref: false });
      }
    }
  }
}

const pools = new WeakMap<Database, { pool: WatchedPool; writing: Semaphore }>();

export interface Connect {
  /** `postgresql://…`; for a socket `postgresql:///database?host=/folder&user=name`. */
  connectionString: string;
  /** The maximum number of connections. */
  max: number;
  /** Statements that take longer are cancelled; 0 means no limit. */
  statementTimeout_ms?: number;
  /** How long callers wait for a database that is away, in milliseconds: another host may take over. Not at all by default. */
  patience_ms?: number;
  /** Whether statements that write fail; false by default. */
  reads_only?: boolean;
  /** The `application_name` of its sessions in PostgreSQL. */
  application_name?: string;
}

/** The connections of the pool are `PreparingClient`s, whose types pg does not know. */
const listenForAudits = (client: EventEmitter, listener: (told: string) => void) => client.on('audited', listener);

/** A pool of connections to PostgreSQL. It connects on first use, so creating it never fails. End it with `destroy()`. */
export function connect({
  connectionString,
  max,
  statementTimeout_ms = 60_000,
  reads_only = false,
  patience_ms = 0,
  application_name = 'coppice',
}: Connect): Database {
  const pool = new WatchedPool({
    Client: PreparingClient,
    connectionString,
    max,
    types,
    application_name,
    // One processor per statement: many requests share the machine, and `union all` keeps the order of its parts. A table of 100,000 ids is kept in memory: from the disk,
    // what is collected for a list takes half as long again.
    options: `-c TimeZone=UTC -c max_parallel_workers_per_gather=0 -c hash_mem_multiplier=4 -c default_transaction_read_only=${reads_only}`,
    statement_timeout: statementTimeout_ms,
    // A transaction that sits idle holds its locks without need.
    idle_in_transaction_session_timeout: 300_000,
    connectionTimeoutMillis: maximumWait_ms,
    keepAlive: true,
  });
  pool.patience_ms = patience_ms;
  pool.on('connect', (client) => listenForAudits(client, (told) => pool.audited?.(told)));
  // The pool has already dropped the idle connection and will open another. Without a listener the event would end the process.
  pool.on('error', () => {});
  // The remaining connections are reserved for reads (docs/decisions/0062).
  const writing = new Semaphore(Math.ceil((max * 2) / 3));
  const db = new Kysely<DB>({ dialect: new Dialect({ pool }, writing) });
  pools.set(db, { pool, writing });
  return db;
}

/** How many connections of the pool are in use and idle, and how many callers wait for one; `db` comes from `connect`. */
export function poolLoad(db: Database): { in_use: number; idle: number; waiting: number } {
  const { pool, writing } = pools.get(db) ?? {};
  const { totalCount = 0, idleCount = 0, waitingCount = 0 } = pool ?? {};
  return { in_use: totalCount - idleCount, idle: idleCount, waiting: waitingCount + (writing?.waiting ?? 0) };
}

/** Calls `listener` when an idle connection of the pool was lost; `db` comes from `connect`. */
export function onIdleLoss(db: Database, listener: () => void): void {
  pools.get(db)?.pool.on('error', listener);
}

/** Calls `listener`, and none that was given before, with each audit event that is committed on a connection of the pool, as JSON of its row; `db` comes from `connect`. */
export function onAudited(db: Database, listener: (told: string) => void): void {
  const known = pools.get(db);
  if (known) known.pool.audited = listener;
}

/**
 * Listens to a channel of the database of a pool, with a connection of its own that is opened on first use; `db` comes from `connect`.
 * @param listener as for `Listening`
 */
export const listenTo = (
  db: Database,
  channel: string,
  listener: { notified: Notified; lost: () => void },
): Listening => pools.get(db)!.pool.listen(channel, listener);

/** The longest current wait for a connection of the pool, in milliseconds, and the longest current wait for a slot to write; `db` comes from `connect`. */
export function poolDelays(db: Database): { any_ms: number; writing_ms: number } {
  const { pool, writing } = pools.get(db) ?? {};
  return { any_ms: pool?.delay_ms ?? 0, writing_ms: writing?.delay_ms ?? 0 };
}

const sqlState = (error: unknown) => (error instanceof pg.DatabaseError ? error.code : undefined);
const constraintOf = (error: unknown) => (error instanceof pg.DatabaseError ? error.constraint : undefined);

/**
 * Whether a statement failed because a row with the same values exists (SQLSTATE 23505).
 * @param constraint the name of the constraint or unique index; by default any
 */
export const isUniqueViolation = (error: unknown, constraint?: string): boolean =>
  sqlState(error) === '23505' && (constraint === undefined || constraintOf(error) === constraint);

/** The message when a write was refused because its repository is being moved to another storage (`refuse_while_moving`); undefined for any other error. */
export const refusedByMove = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && error.code === 'CPC01' ? error.message : undefined;

/**
 * Whether a statement failed because the row it refers to is missing, or is still referred to (SQLSTATE 23503).
 * @param constraint the name of the foreign key; by default any
 */
export const isForeignKeyViolation = (error: unknown, constraint?: string): boolean =>
  sqlState(error) === '23503' && (constraint === undefined || constraintOf(error) === constraint);

/** Whether a statement failed because a text was not a valid value of its type (SQLSTATE class 22). */
export const isDataException = (error: unknown): boolean => sqlState(error)?.startsWith('22') ?? false;

/** Whether a statement failed because it writes in a read-only session (SQLSTATE 25006). */
export const isRefusedWrite = (error: unknown): boolean => sqlState(error) === '25006';

/** Whether a statement failed because a row would break a constraint (SQLSTATE class 23). */
export const isIntegrityViolation = (error: unknown): boolean => sqlState(error)?.startsWith('23') ?? false;

/** Whether PostgreSQL aborted a transaction because of concurrent ones: by a deadlock (SQLSTATE 40P01) or a serialization failure (40001). */
export const isContention = (error: unknown): boolean => ['40P01', '40001'].includes(sqlState(error) ?? '');
