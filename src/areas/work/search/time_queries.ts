/** Searching the database for as long as a search may take. */
import { type Database, isOutOfTime, limitedTo } from '../../../db/index.ts';
import { ApiError } from '../../../http/index.ts';
import { maximumSearch_ms } from './time_rules.ts';

export const timedOutText = 'Request timed out';

/**
 * Searches the database for as long as a search may take.
 * @param search is given the database of the search
 * @throws ApiError 408
 */
export async function inTime<T>(db: Database, search: (db: Database) => Promise<T>): Promise<T> {
  try {
    return await limitedTo(db, maximumSearch_ms, search);
  } catch (error) {
    if (isOutOfTime(error)) throw new ApiError(408, { message: timedOutText });
    throw error;
  }
}
