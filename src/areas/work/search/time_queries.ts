/** Searches the database within the time limit of a search. */
import { type Database, isOutOfTime, limitedTo } from '../../../db/index.ts';
import { ApiError, type FormedPage, type Services } from '../../../http/index.ts';
import { readsEveryRow } from '../../../texts/index.ts';
import { formed, type Scope, type Search } from './definition.ts';
import { inTurn, maximumSearch_ms, pageOf } from './time_rules.ts';

export const timedOutText = 'Request timed out';

/**
 * Runs a database search within the time limit.
 * @param search receives the database to use
 * @returns undefined on a timeout
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
 * Finds results by texts in the database. A search for short words, which no index covers, is queued, and reports if there was not enough time to read all texts.
 * @throws ApiError 408 if another search takes too long, 503 if too many are queued
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
