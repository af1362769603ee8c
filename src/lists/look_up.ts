/** Pages of short lists: the matching rows are found by an index of a filter, sorted, and thereby counted. */
import { type SqlBool, sql } from 'kysely';
import { customPlan, type Database } from '../db/index.ts';
import { sorted } from './collect.ts';
import { countingOf } from './counting.ts';
import { type Found, foundOn, type Reading } from './reading.ts';
import { type Filter, isListed, isNarrow, type Selection } from './selection.ts';
import { thresholds } from './thresholds.ts';
import { expectedRows, isExpectedShort } from './totals.ts';

/**
 * Whether a list may be looked up: one of its filters may match few rows. The answer is cached for a minute: `lookUp` gives up where it has become wrong, and a list that has
 * become shorter is walked.
 */
export async function isShort({ db, selection }: Reading): Promise<boolean> {
  const filters = selection.filters.filter(isNarrow);
  if (filters.length === 0) return false;
  const most = thresholds.lookedUp + 1;
  return isExpectedShort(db, countingOf(selection, most), most, () => isEstimatedShort(db, selection, filters));
}

/**
 * Filters with ids are queried for them, unless these belong to one object; for other filters, such as a search, PostgreSQL estimates the number of rows.
 * @param filters the filters of the selection that may match few rows
 */
async function isEstimatedShort(db: Database, selection: Selection, filters: readonly Filter[]): Promise<boolean> {
  const { lookedUp, expected } = thresholds;
  if (filters.some(({ is_bounded }) => is_bounded)) return true;
  const areFew = filters.flatMap(({ ids }) =>
    ids ? sql`(select count(*) from (${ids} limit ${sql.lit(lookedUp + 1)}) matching) <= ${sql.lit(lookedUp)}` : [],
  );
  if (areFew.length > 0) {
    const { rows } = await sql<{
      is_few: SqlBool;
    }>`${customPlan} select ${sql.join(areFew, sql` or `)} as is_few`.execute(db);
    if (rows[0]!.is_few) return true;
  }
  if (areFew.length === filters.length) return false;
  const { table } = selection.kind;
  return (
    (await expectedRows(db, sql`select from ${sql.table(table)} where ${isListed(selection)}`)) < expected * lookedUp
  );
}

/** Finds a page among all matching rows, unless there are too many. */
export async function lookUp(reading: Reading): Promise<Found | undefined> {
  const { rows, window } = sorted(reading);
  const { lookedUp } = thresholds;
  const found = await sql<Found & { total: number }>`${customPlan}
    with matching as materialized (${rows} limit ${sql.lit(lookedUp + 1)}),
         page as materialized (select array(select row_id from matching ${window}) as ids)
    select (select count(*) from matching) as total, ${foundOn(reading)}`.execute(reading.db);
  const page = found.rows[0]!;
  return page.total <= lookedUp ? page : undefined;
}
