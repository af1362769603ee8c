/** Searching the database for as long as a search may take. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { ApiError } from '../../../http/index.ts';
import { maximumSearch_ms } from './time_rules.ts';

export const timedOutText = 'Request timed out';
/** PostgreSQL has cancelled the statement. */
const cancelled = '57014';

/**
 * Searches the database for as long as a search may take.
 * @param search is given the database of the search
 * @throws ApiError 408
 */
export async function inTime<T>(db: Database, search: (db: Database) => Promise<T>): Promise<T> {
  try {
    return await db.transaction().execute(async (tx) => {
      await sql`set local statement_timeout = ${sql.lit(maximumSearch_ms)}`.execute(tx);
      return search(tx);
    });
  } catch (error) {
    if ((error as { code?: string }).code === cancelled) throw new ApiError(408, { message: timedOutText });
    throw error;
  }
}
