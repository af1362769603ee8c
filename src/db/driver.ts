/**
 * Limits the connections for statements that write to fewer than all. Each write waits for the disk; when the disk stalls, writes would otherwise take every
 * connection and reads would wait with them (docs/decisions/0062).
 */
import {
  CompiledQuery,
  type DatabaseConnection,
  type PostgresDialectConfig,
  PostgresDriver,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import pg from 'pg';
import { type Actor, currentActor } from '../foundation/actors.ts';
import type { Semaphore } from '../foundation/semaphore.ts';
import { auditedTables } from './audited_tables.ts';
import { metByDatabase } from './unavailable.ts';

/** The timeout for a connection, and for a slot to write. */
export const maximumWait_ms = 15_000;

const writingWords = ['insert into ', 'update ', 'delete from ', 'add_job'];

/** Whether a statement writes, judged by its text. A write that is not recognised only takes one of the connections reserved for reads. */
const isWriting = (text: string) => writingWords.some((word) => text.includes(word));

/** Statements that may write audit events, judged by their text: outside of a transaction, they get one that knows who acts. */
const writesAudited = new RegExp(`(?:insert into|update|delete from) "?(?:${auditedTables.join('|')})\\b`);

/** Tells the transaction who acts, for the audit events that it writes. It is sent with its beginning, so it takes no time of its own. */
const actorSet = (actor: Actor) => `set local coppice.actor = ${pg.escapeLiteral(JSON.stringify(actor))}`;

async function actingAlone<R>(
  connection: DatabaseConnection,
  actor: Actor,
  query: CompiledQuery,
): Promise<QueryResult<R>> {
  await connection.executeQuery(CompiledQuery.raw(`begin; ${actorSet(actor)}`));
  try {
    const result = await connection.executeQuery<R>(query);
    await connection.executeQuery(CompiledQuery.raw('commit'));
    return result;
  } catch (error) {
    await connection.executeQuery(CompiledQuery.raw('rollback')).catch(() => {}); // the first error says why
    throw error;
  }
}

/** As the driver of Kysely requires it, which has no name for it. */
type PooledConnection = Parameters<PostgresDriver['releaseConnection']>[0];

/** A connection that is taken from the pool for its first statement, because only the statement tells whether it writes. */
class LateConnection implements DatabaseConnection {
  readonly #take: () => Promise<PooledConnection>;
  readonly #slots: Semaphore;
  #opening: Promise<PooledConnection> | undefined;
  #hasSlot = false;
  isInTransaction = false;
  taken: PooledConnection | undefined;

  constructor(take: () => Promise<PooledConnection>, slots: Semaphore) {
    this.#take = take;
    this.#slots = slots;
  }

  open(isWriter: boolean): Promise<PooledConnection> {
    this.#opening ??= this.#open(isWriter);
    return this.#opening;
  }

  async #open(isWriter: boolean): Promise<PooledConnection> {
    if (isWriter) {
      await this.#slots.take(maximumWait_ms);
      this.#hasSlot = true;
    }
    this.taken = await this.#take();
    return this.taken;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    try {
      const connection = this.taken ?? (await this.open(isWriting(query.sql)));
      const actor = this.isInTransaction || !writesAudited.test(query.sql) ? undefined : currentActor();
      return await (actor ? actingAlone<R>(connection, actor, query) : connection.executeQuery<R>(query));
    } catch (error) {
      throw metByDatabase(error);
    }
  }

  async *streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    try {
      const connection = await this.open(isWriting(query.sql));
      yield* connection.streamQuery<R>(query, chunkSize);
    } catch (error) {
      throw metByDatabase(error);
    }
  }

  releaseSlot(): void {
    if (this.#hasSlot) this.#slots.release();
  }
}

const late = (connection: DatabaseConnection) => connection as LateConnection;

/** The driver of Kysely, with a limit for writing. */
export class LimitingDriver extends PostgresDriver {
  readonly #slots: Semaphore;

  /** @param slots limits the number of concurrent writers */
  constructor(config: PostgresDialectConfig, slots: Semaphore) {
    super(config);
    this.#slots = slots;
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return new LateConnection(async () => (await super.acquireConnection()) as PooledConnection, this.#slots);
  }

  override async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    try {
      late(connection).isInTransaction = true;
      const isReading = settings.accessMode === 'read only';
      const taken = await late(connection).open(!isReading);
      const actor = isReading ? undefined : currentActor();
      if (!actor || settings.isolationLevel) {
        await super.beginTransaction(taken, settings);
        if (!actor) return;
      }
      await taken.executeQuery(CompiledQuery.raw(`${settings.isolationLevel ? '' : 'begin; '}${actorSet(actor)}`));
    } catch (error) {
      throw metByDatabase(error);
    }
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await super.rollbackTransaction(late(connection).taken!);
  }

  override async releaseConnection(connection: DatabaseConnection): Promise<void> {
    const { taken } = late(connection);
    if (taken) await super.releaseConnection(taken);
    late(connection).releaseSlot();
  }
}
