/** The first rows of a list, read in its order from the indexes of its projects or groups. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IssuableKind } from '../../../access/index.ts';
import type { Filter } from './filters.ts';
import { all, columnsOf, namesOf, ofPart, orderOf, type Part, placeId, rowId } from './part_queries.ts';

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

/** A filter whose matches can be looked up apart from the list. */
type SetFilter = Filter & Required<Pick<Filter, 'ids'>>;
const isSet = (filter: Filter): filter is SetFilter => filter.ids !== undefined;
const isNoSet = (filter: Filter): boolean => !isSet(filter);

/**
 * A predicate on rows: they match all of several filters that are looked up. What these have in common is found before the rows, because PostgreSQL would compare all rows with
 * each of them: `offset 0` keeps it from that.
 */
function isInAll(kind: IssuableKind, [first, ...others]: readonly SetFilter[]): RawBuilder<SqlBool> {
  const isInOthers = all(others.map(({ ids }) => sql`id in (${ids})`));
  return sql`${rowId(kind)} in (select id from (${first!.ids}) first(id) where ${isInOthers} offset 0)`;
}

/** All predicates except that of the projects or groups. */
export function within({ kind, view, filters }: Selection): RawBuilder<SqlBool>[] {
  const sets = filters.filter(isSet);
  if (sets.length < 2) return [view.where, ...filters.map(({ where }) => where)];
  const others = filters.filter(isNoSet).map(({ where }) => where);
  return [view.where, isInAll(kind, sets), ...others];
}

const isNarrowed = (filters: readonly Filter[]) => filters.some(({ isNarrow }) => isNarrow);
/** Whether few rows may match. In one project or group, PostgreSQL knows about how many. */
const mayBeFew = ({ view, filters }: Selection) =>
  isNarrowed(filters) || (view.place_ids?.length !== 1 && filters.some(({ varies }) => varies));

/** Whether no row of a part matches. */
export const isEmpty = ({ columns }: Part, filters: readonly Filter[]): boolean =>
  columns !== undefined && filters.some(({ lacks }) => lacks === columns[0]);

/** Where the rows of a part that match are in its order. */
const boundsOf = ({ columns = [] }: { columns?: readonly string[] }, filters: readonly Filter[]) =>
  filters.flatMap(({ bound }) => (bound && columns.includes(bound.column) ? bound.where : []));

/** The filters where rows are read in order. */
const testsOf = (filters: readonly Filter[]) => filters.map(({ where, test = where }) => test);

/** A predicate on rows: they are in the projects or groups of a list, if these are listed by id. */
export function isAmongPlaces({ kind, view: { place_ids } }: Selection, place = placeId(kind)): RawBuilder<SqlBool> {
  if (!place_ids) return sql`true`;
  return place_ids.length === 1 ? sql`${placeId(kind)} = ${place_ids[0]}` : sql`${place} = any(${place_ids}::bigint[])`;
}

/** The same, for reading the rows. For a search of several, the planner would combine its index with the rows of all; this way it checks the place of each match. */
export function ofPlaces(selection: Selection): RawBuilder<SqlBool> {
  const { kind, filters } = selection;
  return filters.some(({ isSearch }) => isSearch)
    ? isAmongPlaces(selection, sql`(${placeId(kind)} + 0)`)
    : isAmongPlaces(selection);
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

/** Before so many rows, reading and sorting the first ones of each project or group takes less time than planning to merge them, or than counting what matches. */
export const fewestFar = 1000;
/** Planning takes a tenth of a millisecond for each project or group. */
const mostMerged = 200;

/** Whether the projects or groups of a list are few enough to be merged. */
export const areMergeable = ({ view: { place_ids = [] } }: Selection): boolean =>
  place_ids.length > 1 && place_ids.length <= mostMerged;

/** What one filter looks up, if no other one makes rows few: of what several match together, nothing is known. */
export function onlySet({ filters }: Selection): { filter: Filter; set: RawBuilder<unknown> } | undefined {
  const [filter, ...others] = filters.filter(({ isNarrow, varies }) => isNarrow || varies);
  const set = filter?.ids ?? filter?.others;
  return filter && set && others.length === 0 ? { filter, set } : undefined;
}

/**
 * The first ids of a part, merged from the rows of each project or group as its index has them, of which only those are read that are among the first of all. Each has an
 * order of its own, because PostgreSQL merges nothing else.
 * @param compared a filter that is compared with what it looks up. PostgreSQL keeps these ids in a hash table: it would make a join of what is not compared with `true`, and a
 * table for each project or group of what is not kept out of these by `offset 0`.
 */
export function mergedOfPart(
  part: Part,
  { kind, view, filters }: Selection,
  compared: Filter | undefined,
  count: number,
): RawBuilder<unknown> {
  const [columns, own, merged] = [columnsOf(part, kind), orderOf(kind, part, false), orderOf(kind, part, true)];
  const limit = sql`limit ${sql.lit(count)}`;
  const tests = all([
    view.where,
    ...testsOf(filters.filter((filter) => filter !== compared)),
    ...ofPart(part),
    ...boundsOf(part, filters),
  ]);
  const eachPlace = (view.place_ids ?? []).map(
    (id) =>
      sql`(select ${columns} from ${sql.table(kind.table)} where ${placeId(kind)} = ${id} and ${tests} ${own} ${compared ? sql`` : limit})`,
  );
  const rows = sql`(${sql.join(eachPlace, sql` union all `)}) merged`;
  if (!compared) return sql`select row_id as id from ${rows} ${merged} ${limit}`;
  const { ids, others } = compared;
  const matches = ids ? sql`(row_id in (${ids})) is true` : sql`(row_id in (${others})) is not true`;
  return sql`select row_id as id from (select * from ${rows} ${merged} offset 0) merged where ${matches} ${merged} ${limit}`;
}

/**
 * How many rows are tested for a page that ends behind `count` rows, first and if that was not enough: what takes 5 and 30 milliseconds, less of a search, which reads
 * longer texts. Of more projects than can be named, the fewest of each are tested.
 */
export const testsFor = ({ view, filters }: Selection, count: number): number[] => {
  if (view.places) return [0];
  const least = filters.some(({ isSearch }) => isSearch) ? [1_500, 5_000] : [4_000, 20_000];
  return [...new Set(least.map((rows) => Math.max(rows, 8 * count)))];
};
/** How many at least in each project or group. */
const fewestTested = 10;
/** A page that ends further behind is not looked for by testing rows: all that match are collected. If they are not likely to be few, they are rather read in order. */
const mostNear = ({ filters }: Selection): number => (isNarrowed(filters) ? 10_100 : 2_500);

/** Whether the first rows of a list are looked for among the first rows of each project or group, because few of them may match. */
export const isTested = (selection: Selection, count: number): boolean => mayBeFew(selection) && count <= mostNear(selection);

/**
 * The ids of a part that match filters among the first `tested` rows of each project or group, in order. Where filters leave too few of these rows, the last of them is
 * listed as an end: what is before it in the list is known.
 */
function firstOfTested(
  part: Part,
  { kind, filters }: Selection,
  { ids, where }: { ids: RawBuilder<unknown>; where: RawBuilder<SqlBool> },
  { count, tested }: { count: number; tested: number },
): RawBuilder<unknown> {
  const tests = all([where, ...testsOf(filters)]);
  const [table, columns, listed] = [sql.table(kind.table), columnsOf(part, kind), orderOf(kind, part, true)];
  const within = all([sql`${placeId(kind)} = place.id`, ...ofPart(part), ...boundsOf(part, filters)]);
  // With the names of the keys, because PostgreSQL does not see the order of an expression from outside.
  const rows = (more: RawBuilder<unknown>) =>
    sql`select ${columns}, ${more} from ${table} where ${within} ${orderOf(kind, part, false)}`;
  const first = (limit: number) => sql`lateral (
    (select ${namesOf(part)}, false as is_end from (${rows(sql`${table}.*`)} limit ${sql.lit(tested)}) ${table} where ${tests} ${listed} limit ${sql.lit(limit)})
    union all (${rows(sql`true`)} limit 1 offset ${sql.lit(tested - 1)})
    limit ${sql.lit(limit)}) first`;
  return sql`
    select row_id as id, is_end from (
      select first.* from (select place.id from (${ids}) place(id), ${first(1)} ${listed} limit ${sql.lit(count)}) place, ${first(count)}) firsts
     ${listed} limit ${sql.lit(count)}`;
}

/** How many of the first rows of all projects are checked before each visible project is asked for its first rows. */
const walkedAtLeast = 2000;

/**
 * The first ids of a part of all projects, if a caller may read enough of them; otherwise those that are read in another way.
 * @param far selects them with `is_end`, as this does
 */
function firstOfAll(
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

const unnested = (place_ids: readonly number[]) => sql`select unnest(${place_ids}::bigint[])`;

/** The first ids of a part of all rows that match, which are sorted. PostgreSQL might rather read the rows in order until enough match, which may be the last ones only. */
function collectedOfPart(part: Part, selection: Selection, count: number): RawBuilder<unknown> {
  const { kind } = selection;
  const where = all([ofPlaces(selection), ...within(selection), ...ofPart(part)]);
  return sql`select row_id as id, false as is_end
    from (select ${columnsOf(part, kind)} from ${sql.table(kind.table)} where ${where} offset 0) matching ${orderOf(kind, part, true)} limit ${sql.lit(count)}`;
}

/**
 * The first ids of a part, each with `is_end`: beyond the first of these, the part is not known.
 * @param tests how many rows are tested in all projects or groups together; undefined to collect all that match
 */
export function testedOfPart(part: Part, selection: Selection, count: number, tests: number | undefined): RawBuilder<unknown> {
  if (tests === undefined) return collectedOfPart(part, selection, count);
  const { places, place_ids = [], where } = selection.view;
  const tested = Math.max(fewestTested, Math.ceil(tests / Math.max(1, place_ids.length)));
  const firsts = firstOfTested(part, selection, places ?? { ids: unnested(place_ids), where }, { count, tested });
  return places && part.isIndexedAcross ? firstOfAll(part, selection, firsts, count) : firsts;
}

/** The first ids of a part, read in order. */
export function firstOfPart(part: Part, selection: Selection, count: number): RawBuilder<unknown> {
  const { kind, view, filters } = selection;
  const { places, place_ids = [], where } = view;
  if (places) return firstOfMany(part, selection, places, count);
  const tests = [where, ...testsOf(filters)];
  if (place_ids.length === 1) return selectedInOrder(part, selection, tests, count);
  if (place_ids.length + Math.min(place_ids.length, count) * count <= mostOfPlaces)
    return firstOfPlaces(part, kind, unnested(place_ids), [...tests, ...ofPart(part)], count);
  return selectedInOrder(part, selection, within(selection), count);
}
