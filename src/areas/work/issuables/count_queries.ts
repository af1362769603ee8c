/** How many rows lists of any kind have, and how many they are expected to have. */
import { type RawBuilder, sql } from 'kysely';
import { type Counting, customPlan, type Database, expectedRows, isKnownLong, rememberLong } from '../../../db/index.ts';
import { listNamed, type SortKey } from '../../../http/index.ts';
import type { Filter } from './filters.ts';
import { isAmongPlaces, ofPlaces, type Selection, within } from './match_queries.ts';
import { all, ordering, placeId } from './part_queries.ts';

/** Matches of a search are looked up as far as lists are counted, so that they need not be counted again. */
export const mostSearched = 10_001;

/** This many rows can be looked up and sorted without a noticeable delay. */
export const mostGathered = 2000;

/** Whether no filter is likely to match few rows only. */
export const isLoose = (filters: readonly Filter[]) => filters.every(({ isNarrow }) => !isNarrow);

/** Selects the rows of a list, in no order. */
function rowsIn(selection: Selection, isInPlaces = ofPlaces(selection)): RawBuilder<unknown> {
  const { kind, view, filters } = selection;
  const tests = filters.map(({ where }) => where);
  if (view.places && isLoose(filters))
    return sql`select from (${view.places.ids}) place(id) join ${sql.table(kind.table)} on ${placeId(kind)} = place.id where ${all([view.places.where, ...tests])}`;
  return sql`select from ${sql.table(kind.table)} where ${all([isInPlaces, ...within(selection)])}`;
}

/** Selects how many rows there are, up to `most`. */
export function countingOf(selection: Selection, most: number): Counting {
  const planning = selection.filters.length === 0 ? sql`` : customPlan;
  return sql`${planning} select count(*) as total from (${rowsIn(selection)} limit ${sql.lit(most)}) counted`;
}

/** Whether a list is remembered to have more rows than are ever counted. */
export const isKnownUncounted = (db: Database, selection: Selection): boolean =>
  isKnownLong(db, countingOf(selection, mostSearched), mostSearched);

/** Remembers this for a minute. */
export const rememberUncounted = (db: Database, selection: Selection): void =>
  rememberLong(db, countingOf(selection, mostSearched), mostSearched);

/** Tells a list in its order from all others. */
export const nameOf = (db: Database, selection: Selection, keys: readonly SortKey[]): string =>
  listNamed(sql`${countingOf(selection, mostSearched)} ${sql.join(keys.map((key) => ordering(key.column, key)))}`.compile(db));

/** How many rows PostgreSQL expects in a list. */
export const expectedIn = (db: Database, selection: Selection): Promise<number> =>
  expectedRows(db, rowsIn(selection, isAmongPlaces(selection)));

/** A search of which PostgreSQL expects as many matches has more than are ever counted. */
const surelyLong = 4 * mostSearched;

/**
 * Whether a search finds too many rows to look them all up: because it has found them a moment ago, or is expected to. Then it is walked for a while, because trying
 * costs more than a page.
 */
export async function isLongSearch(db: Database, selection: Selection): Promise<boolean> {
  if (!selection.filters.some(({ isSearch }) => isSearch)) return false;
  if (isKnownUncounted(db, selection)) return true;
  const isLong = (await expectedIn(db, selection)) >= surelyLong;
  if (isLong) rememberUncounted(db, selection);
  return isLong;
}

/** The ids that a query selects, if they are few. That they are many is remembered for a minute. */
export async function fewIds(db: Database, query: RawBuilder<{ id: number }>): Promise<number[] | undefined> {
  const most = mostGathered + 1;
  const some = sql<{ id: number }>`${query} limit ${sql.lit(most)}`;
  const counting = sql<{ total: number }>`select count(*) as total from (${some}) counted`;
  if (isKnownLong(db, counting, most)) return undefined;
  const { rows } = await some.execute(db);
  if (rows.length < most) return rows.map(({ id }) => id);
  rememberLong(db, counting, most);
  return undefined;
}
