/** The first rows of a list, read in its order from the indexes of its projects or groups. */
import { type QueryResult, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IssuableKind } from '../../../access/index.ts';
import { customPlan } from '../../../db/index.ts';
import { mostSearched } from './count_queries.ts';
import { type Found, foundIn, isToBeCounted, type Read, type Reading, rowsUpTo, selectedFrom } from './found_queries.ts';
import { isUsual } from './gathered_queries.ts';
import { ofPlaces, type Selection, testsOf, type View, within } from './match_queries.ts';
import { all, columnsOf, ofPart, orderOf, type Part, placeId, rowId } from './part_queries.ts';

/** Below this many rows it is faster to take the first rows of some projects or groups than to scan all of them at once. */
const mostOfPlaces = 100_000;

/**
 * The first ids of a part, from the first rows of its projects or groups: first one of each, because the first `count` rows are in the `count` of them whose
 * first row comes first. So the others are asked for one row each.
 * @param places with the ids
 */
function firstOfPlaces(
  part: Part,
  kind: IssuableKind,
  places: RawBuilder<unknown>,
  tests: readonly RawBuilder<SqlBool>[],
  count: number,
): RawBuilder<unknown> {
  const columns = columnsOf(part, kind);
  const first = (limit: number) => sql`lateral (
    select ${columns} from ${sql.table(kind.table)} where ${placeId(kind)} = place.id and ${all(tests)}
     ${orderOf(kind, part, false)} limit ${sql.lit(limit)}) first`;
  const order = orderOf(kind, part, true);
  return sql`select row_id as id from (
    select first.* from (select place.id from (${places}) place(id), ${first(1)} ${order} limit ${sql.lit(count)}) place, ${first(count)}) firsts
     ${order} limit ${sql.lit(count)}`;
}

/** How many of the first rows of all projects are checked before each visible project is asked for its first rows. */
const walkedAtLeast = 2000;

/**
 * The first ids of a part of all projects, if a caller may read enough of them; otherwise those that are read in another way.
 * @param far selects them with `is_end`, as this does
 */
export function firstOfAll(
  part: Part,
  { kind, view, filters }: Selection,
  far: RawBuilder<unknown>,
  count: number,
): RawBuilder<unknown> {
  const order = orderOf(kind, part, false);
  const found = sql`(select count(*) from near)`;
  return sql`
    with near as materialized (
      select ${rowId(kind)} as id
        from (select * from ${sql.table(kind.table)} where ${part.from ?? sql`true`} ${order} limit ${sql.lit(walkedAtLeast + 4 * count)}) ${sql.table(kind.table)}
       where ${all([view.where, ...testsOf(filters), ...ofPart(part)])} ${order} limit ${sql.lit(count)})
    select id, false as is_end from near where ${found} = ${sql.lit(count)}
    union all select id, is_end from (${far}) far where ${found} < ${sql.lit(count)}`;
}

/** The first ids of a part in the order of an index. Without one, all that match are sorted. */
function selectedInOrder(
  part: Part,
  selection: Selection,
  predicates: readonly RawBuilder<SqlBool>[],
  count: number,
): RawBuilder<unknown> {
  const { kind } = selection;
  const where = all([ofPlaces(selection), ...predicates, ...ofPart(part)]);
  return sql`select ${rowId(kind)} as id from ${sql.table(kind.table)} where ${where} ${orderOf(kind, part, false)} limit ${sql.lit(count)}`;
}

/** The first ids of a part of a list of more projects than can be named. */
function firstOfMany(
  part: Part,
  selection: Selection,
  { ids, where }: NonNullable<View['places']>,
  count: number,
): RawBuilder<unknown> {
  const { kind, filters } = selection;
  const far = firstOfPlaces(part, kind, ids, [where, ...testsOf(filters), ...ofPart(part)], count);
  if (!part.isIndexedAcross) return far;
  return sql`select id from (${firstOfAll(part, selection, sql`select id, false as is_end from (${far}) far`, count)}) firsts`;
}

export const unnested = (place_ids: readonly number[]) => sql`select unnest(${place_ids}::bigint[])`;

/** The first ids of a part, read in order. */
function firstOfPart(part: Part, selection: Selection, count: number): RawBuilder<unknown> {
  const { kind, view, filters } = selection;
  const { places, place_ids = [], where } = view;
  if (places) return firstOfMany(part, selection, places, count);
  const tests = [where, ...testsOf(filters)];
  if (place_ids.length === 1) return selectedInOrder(part, selection, tests, count);
  if (place_ids.length + Math.min(place_ids.length, count) * count <= mostOfPlaces)
    return firstOfPlaces(part, kind, unnested(place_ids), [...tests, ...ofPart(part)], count);
  return selectedInOrder(part, selection, within(selection), count);
}

/** A far page is read on to where lists are no longer counted, if that is not much further: counting apart takes longer. */
const fewestToCount = 8000;

/**
 * Reads the parts of a list one after the other, as far as the end of a page.
 * @param rowsOf selects the first ids of a part
 * @param run runs the statement
 */
export async function readInOrder(
  reading: Reading,
  rowsOf: (part: Part, count: number) => RawBuilder<unknown>,
  run: (statement: RawBuilder<Read>) => Promise<QueryResult<Read>>,
): Promise<Found> {
  const { start, rest } = reading;
  const count = rowsUpTo(start);
  const limit = count >= fewestToCount && isToBeCounted(reading) ? Math.max(count, mostSearched) : count;
  const firsts = rest.map((part) => sql`(${rowsOf(part, limit)})`);
  const { rows } = await run(sql<Read>`${customPlan}
    with near as materialized (
      select array(select id from (${sql.join(firsts, sql` union all `)}) page limit ${sql.lit(limit)}) as ids)
    select ${selectedFrom(reading)} from near`);
  return foundIn(reading, rows[0]!, limit);
}

/** The ids of a page of a list that is read in order, as far as the end of the page. */
export async function walked(reading: Reading): Promise<Found> {
  const { db, selection, start, rest } = reading;
  const rowsOf = (part: Part, count: number) => firstOfPart(part, selection, count);
  if (start.isFar) return readInOrder(reading, rowsOf, (statement) => statement.execute(db));
  const firsts = rest.map((part) => sql`(${rowsOf(part, rowsUpTo(start))})`);
  const [limit, offset] = [sql.lit(start.per_page + 1), sql.lit(start.offset)];
  // With a filter, the best plan depends on how many rows match it.
  const { rows } = await sql<{ id: number }>`${isUsual(selection, start, 0) ? sql`` : customPlan}
    select id from (${sql.join(firsts, sql` union all `)}) page limit ${limit} offset ${offset}`.execute(db);
  return { ids: rows.map(({ id }) => id) };
}
