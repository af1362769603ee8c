/** Pages of lists of which all rows that match are sorted. */
import { type RawBuilder, sql } from 'kysely';
import { customPlan } from '../../../db/index.ts';
import { furthest } from '../../../http/index.ts';
import { mostSearched } from './count_queries.ts';
import { type Found, foundIn, isToBeCounted, type Read, type Reading, rowsUpTo, selectedFrom } from './found_queries.ts';
import { ofPlaces, type Selection, within } from './match_queries.ts';
import { all, columnsOf, ofPart, orderOf, type Part, placeInParts } from './part_queries.ts';

/** The first ids of a part of all rows that match, which are sorted. PostgreSQL might rather read the rows in order until enough match, which may be the last ones only. */
export function collectedOfPart(part: Part, selection: Selection, count: number): RawBuilder<unknown> {
  const { kind } = selection;
  const where = all([ofPlaces(selection), ...within(selection), ...ofPart(part)]);
  return sql`select row_id as id, false as is_end
    from (select ${columnsOf(part, kind)} from ${sql.table(kind.table)} where ${where} offset 0) matching ${orderOf(kind, part, true)} limit ${sql.lit(count)}`;
}

/**
 * The ids of a page of a list, from all rows that match, which are sorted. PostgreSQL might rather read the rows in order until enough match, which may be the last ones
 * only: `offset 0` keeps it from that.
 */
export async function collected(reading: Reading): Promise<Found> {
  const { db, selection, start, rest } = reading;
  const { kind } = selection;
  const { columns, order } = placeInParts(kind, rest);
  const where = all([ofPlaces(selection), ...within(selection)]);
  // Sorting more rows than those up to the page costs little: they are then counted, and other far pages are found at once.
  const least = isToBeCounted(reading) ? mostSearched : 0;
  const limit = start.list === undefined ? Math.max(rowsUpTo(start), least) : furthest;
  const { rows } = await sql<Read>`${customPlan}
    with near as materialized (select array(
      select id from (select ${columns} from ${sql.table(kind.table)} where ${where} offset 0) matching
       where part is not null ${order} limit ${sql.lit(limit)}) as ids)
    select ${selectedFrom(reading)} from near`.execute(db);
  return foundIn(reading, rows[0]!, limit);
}
