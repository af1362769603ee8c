/** Searching the database for as long as a search may take. */
import { type Database, isOutOfTime, limitedTo } from '../../../db/index.ts';
import { ApiError, type FormedPage, type Services } from '../../../http/index.ts';
import { readsEveryRow } from '../../../texts/index.ts';
import { formed, type Scope, type Search } from './definition.ts';
import { inTurn, maximumSearch_ms, pageOf } from './time_rules.ts';

export const timedOutText = 'Request timed out';

/**
 * Searches the database for as long as a search may take.
 * @param search is given the database of the search
 * @returns undefined if the time is over
 */
async function inTime<T>(db: Database, search: (db: Database) => Promise<T>): Promise<T | undefined> {
  try {
    return await limitedTo(db, maximumSearch_ms, search);
  } catch (error) {
    if (isOutOfTime(error)) return undefined;
    throw error;
  }
}

/**
 * Finds things whose texts are in the database. A search for short words, which no index has, waits for its turn, and says when there was no time to read all texts.
 * @throws ApiError 408 for other searches that take too long, 503 if too many wait
 */
export async function findTexts(
  { find, forms }: Scope,
  services: Services,
  search: Search,
): Promise<FormedPage<unknown>> {
  const found = () => inTime(services.db, (db) => find({ ...services, db }, search));
  if (readsEveryRow(search.input.search)) {
    const nothing = pageOf([], search, { isWhole: false, isComplete: false });
    return (await inTurn(search, found)) ?? formed(forms[0]!, nothing);
  }
  const page = await found();
  if (!page) throw new ApiError(408, { message: timedOutText });
  return page;
}
