/** Reads with a time limit. */
import { sql } from 'kysely';
import type { Database } from './connect.ts';

const origins = new WeakMap<Database, Database>();

/** The database of which a limited one is a view; any other database is its own. Caches for a database also apply to its limited views, because these only read. */
export const originOf = (db: Database): Database => origins.get(db) ?? db;

/**
 * Reads with a limit for the time of each statement.
 * @param read receives the limited view
 * @throws the timeout errors that `isOutOfTime` recognises
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

/** Whether a statement exceeded its time limit. */
export const isOutOfTime = (error: unknown): boolean => (error as { code?: string }).code === '57014';
