/** The first rows of a list, read in its order from the indexes of its projects or groups. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IssuableKind } from '../../../access/index.ts';
import type { Filter } from './filters.ts';
import { all, columnsOf, ofPart, orderOf, type Part, placeId, rowId } from './part_queries.ts';

/** What the caller may read in the projects or groups of a list. */
export interface View {
  /** The projects or groups, if they are few enough to be listed by id. */
  place_ids?: readonly number[];
  /** Otherwise a query of their ids, and a predicate on the rows in them. */
  places?: { ids: RawBuilder<unknown>; where: RawBuilder<SqlBool> };
  /** A predicate on the rows; without `place_ids` it also says in which projects or groups. */
  where: RawBuilder<SqlBool>;
}

/** Which rows a list is of, as predicates. */
export interface Selection {
  kind: IssuableKind;
  view: View;
  filters: readonly Filter[];
}

/** All predicates except that of the projects or groups. */
export const within = ({ view, filters }: Selection) => [view.where, ...filters.map(({ where }) => where)];

/** The filters where rows are read in order. */
const testsOf = (filters: readonly Filter[]) => filters.map(({ where, test = where }) => test);

/** A predicate on rows: they are in the projects or groups of a list, if these are listed by id. */
export function ofPlaces({ kind, view: { place_ids }, filters }: Selection): RawBuilder<SqlBool> {
  if (!place_ids) return sql`true`;
  if (place_ids.length === 1) return sql`${placeId(kind)} = ${place_ids[0]}`;
  // Otherwise the planner would combine the search index with the rows of all projects. This way it checks the project of each match.
  const place = filters.some(({ isSearch }) => isSearch) ? sql`(${placeId(kind)} + 0)` : placeId(kind);
  return sql`${place} = any(${place_ids}::bigint[])`;
}

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

/** From so many rows on, reading and sorting the first rows of each project or group takes longer than planning to merge them. */
const fewestMerged = 10_000;
/** Planning takes a tenth of a millisecond for each project or group. */
const mostMerged = 200;

/**
 * The same, merged from the rows of each project or group as its index has them, of which only those are read that are among the first of all. Each has an order of
 * its own, because PostgreSQL merges nothing else.
 */
function mergedFromPlaces(
  part: Part,
  kind: IssuableKind,
  place_ids: readonly number[],
  tests: readonly RawBuilder<SqlBool>[],
  count: number,
): RawBuilder<unknown> {
  const columns = columnsOf(part, kind);
  const eachPlace = place_ids.map(
    (id) => sql`(
      select ${columns} from ${sql.table(kind.table)} where ${placeId(kind)} = ${id} and ${all(tests)} ${orderOf(kind, part, false)} limit ${sql.lit(count)})`,
  );
  return sql`select row_id as id from (${sql.join(eachPlace, sql` union all `)}) merged ${orderOf(kind, part, true)} limit ${sql.lit(count)}`;
}

/** How many of the first rows of all projects are checked before each visible project is asked for its first rows. */
const walkedAtLeast = 2000;

/** The first ids of a part of a list of more projects than can be named. A caller who may read much finds them among the first of all. */
function firstOfMany(
  part: Part,
  { kind, view, filters }: Selection,
  { ids, where }: NonNullable<View['places']>,
  count: number,
): RawBuilder<unknown> {
  const tests = [...testsOf(filters), ...ofPart(part)];
  const far = firstOfPlaces(part, kind, ids, [where, ...tests], count);
  if (!part.isIndexedAcross) return far;
  const order = orderOf(kind, part, false);
  const found = sql`(select count(*) from near)`;
  return sql`
    with near as materialized (
      select ${rowId(kind)} as id
        from (select * from ${sql.table(kind.table)} where ${part.from ?? sql`true`} ${order} limit ${sql.lit(walkedAtLeast + 4 * count)}) ${sql.table(kind.table)}
       where ${all([view.where, ...tests])} ${order} limit ${sql.lit(count)})
    select id from near where ${found} = ${sql.lit(count)}
    union all select id from (${far}) far where ${found} < ${sql.lit(count)}`;
}

/** Whether the rows that match are collected and sorted. Otherwise they are read in order, until there are enough of them. */
const isCollected = ({ followsFilters }: Part, filters: readonly Filter[]) =>
  filters.some(({ isNarrow, isSearch, test }) => isNarrow && !isSearch && (followsFilters || !test));

/** Whether a part is merged, which is to be planned without sorting. */
export function isMerged(part: Part, { view: { place_ids = [] }, filters }: Selection, count: number): boolean {
  const places = place_ids.length;
  const isFew = Math.min(places, count) * count < fewestMerged;
  return places > 1 && places <= mostMerged && !isFew && !isCollected(part, filters);
}

/** The first ids of a part, read in order. */
export function firstOfPart(part: Part, selection: Selection, count: number): RawBuilder<unknown> {
  const { kind, view, filters } = selection;
  const tests = [view.where, ...testsOf(filters), ...ofPart(part)];
  const places = view.place_ids?.length ?? 1;
  const collects = isCollected(part, filters);
  if (view.places && !collects) return firstOfMany(part, selection, view.places, count);
  if (isMerged(part, selection, count)) return mergedFromPlaces(part, kind, view.place_ids!, tests, count);
  if (places > 1 && !collects && places + Math.min(places, count) * count <= mostOfPlaces)
    return firstOfPlaces(part, kind, sql`select unnest(${view.place_ids}::bigint[])`, tests, count);
  const predicates = places > 1 || collects ? [...within(selection), ...ofPart(part)] : tests;
  return sql`select ${rowId(kind)} from ${sql.table(kind.table)} where ${all([ofPlaces(selection), ...predicates])} ${orderOf(kind, part, false)} limit ${sql.lit(count)}`;
}
