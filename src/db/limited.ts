/** Reading for a limited time. */
import { sql } from 'kysely';
import type { Database } from './connect.ts';

const origins = new WeakMap<Database, Database>();

/** The database that a limited one is a view of; any other is its own. What is remembered of a database holds for its limited views, too, because they only read. */
export const originOf = (db: Database): Database => origins.get(db) ?? db;

/**
 * Reads with a limit for the time of each statement.
 * @param read gets the limited view
 * @throws what `isOutOfTime` knows
 */
export const limitedTo = <T>(db: Database, most_ms: number, read: (db: Database) => Promise<T>): Promise<T> =>
  db
    .transaction()
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql`set local statement_timeout = ${sql.lit(most_ms)}`.execute(tx);
      origins.set(tx, db);
      return read(tx);
    });

/** Whether a statement took longer than it may. */
export const isOutOfTime = (error: unknown): boolean => (error as { code?: string }).code === '57014';
