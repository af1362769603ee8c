/** Statements that read rows in order. */
import { sql } from 'kysely';
import type { Database } from './connect.ts';

/**
 * Runs statements that are planned to read rows in the order of an index wherever there is one. PostgreSQL underestimates what reading and sorting all costs.
 * @param run on this connection
 */
export const withoutSorting = <T>(db: Database, run: (tx: Database) => Promise<T>): Promise<T> =>
  db
    .transaction()
    .setAccessMode('read only')
    .execute(async (tx) => {
      await sql`set local enable_sort to off`.execute(tx);
      return run(tx);
    });
