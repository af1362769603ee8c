/** Finding the ids of a page of a list of any kind, from indexes where possible. */
import { sql } from 'kysely';
import { customPlan, type Database } from '../../../db/index.ts';
import type { Start } from '../../../http/index.ts';
import { collected } from './collected_queries.ts';
import { expectedIn, isLongSearch, isLoose, mostSearched } from './count_queries.ts';
import { type Found, type Reader, rowsUpTo } from './found_queries.ts';
import { areFew, gathered } from './gathered_queries.ts';
import { isEmpty, type Selection } from './match_queries.ts';
import { areMergeable, comparedIn, mergedWith } from './merge_queries.ts';
import { type Part, partsFrom } from './part_queries.ts';
import { isTested, tested } from './tested_queries.ts';
import { walked } from './walk_queries.ts';

/** Before so many rows, reading and sorting the first ones of each project or group takes less time than planning to merge them, or than counting what matches. */
const fewestFar = 1000;

/** Collecting and sorting as many takes less time than testing enough rows for a far page. */
const mostCollected = 60_000;
/** The same beside merging what projects or groups have, for each row up to the end of the page. */
const mostCollectedPerRow = 2;

/** Whether at most so many rows match, or too few to find those before a far page among the rows that are tested for it, as far as that can be known at little cost. */
async function areSurelyFew(db: Database, { filters }: Selection, most: number): Promise<boolean> {
  if (filters.filter(({ isNarrow }) => isNarrow).length > 1) return true;
  if (isLoose(filters) || filters.some(({ isSearch }) => isSearch)) return false;
  const { rows } = await sql<{ are_few: boolean }>`${customPlan}
    select ${areFew(filters, most)} as are_few`.execute(db);
  return rows[0]!.are_few;
}

/** PostgreSQL keeps no more than about 500,000 ids in a hash table, and would read them all again for each row. */
const mostHashed = 300_000;

/** Merging reads the rows that do not match, too. Up to the end of a page in the first quarter of a list, these take no longer than testing as many. */
const mergedShare = 4;

/** How a page is read that ends behind `count` rows. */
async function readerFor(db: Database, selection: Selection, count: number): Promise<Reader> {
  const merges = areMergeable(selection) && count > fewestFar;
  const compared = merges ? await comparedIn(db, selection, mostHashed) : undefined;
  const areFewUpTo = async (most: number) => count > fewestFar && (await areSurelyFew(db, selection, most));
  if (compared) {
    const most = Math.max(compared.isIndexed ? mostCollected : 0, mostCollectedPerRow * count);
    return (await areFewUpTo(most)) ? collected : mergedWith(compared);
  }
  const [loose, near] = [isLoose(selection.filters), isTested(selection, count)];
  if (loose && merges && (!near || (await expectedIn(db, selection)) >= mergedShare * count)) return mergedWith(undefined);
  if (near) return (await areFewUpTo(mostCollected)) ? collected : tested;
  return loose ? walked : collected;
}

/**
 * Finds a page of a list.
 * @param parts all parts of its order
 * @param start where the page begins, by number or behind a row
 * @returns the ids of its rows, and of the next one if there is any
 */
export async function idsOfPage(db: Database, selection: Selection, parts: readonly Part[], start: Start): Promise<Found> {
  let tried: Partial<Found> = {};
  if (await isLongSearch(db, selection)) tried = { total: mostSearched };
  else if (!isLoose(selection.filters)) tried = await gathered(db, selection, parts, start);
  const { ids, total, last = null } = tried;
  if (ids) return { ids, last, ...(total === undefined ? {} : { total }) };
  const rest = partsFrom(db, selection.kind, parts, start).filter((part) => !isEmpty(part, selection.filters));
  const read = await readerFor(db, selection, rowsUpTo(start));
  const found = await read({ db, selection, start, parts, rest });
  return total === undefined ? found : { ...found, total };
}
