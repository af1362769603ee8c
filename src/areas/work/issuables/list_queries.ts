/** Reading lists of any kind: first the ids of a page, from indexes where possible, then the replies for these only. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { IssuableKind } from '../../../access/index.ts';
import { type Counting, countRows, customPlan, type Database, isKnownLong, rememberLong } from '../../../db/index.ts';
import {
  type Page,
  type Paging,
  type Position,
  pageBeyond,
  rangesBehind,
  readBehind,
  readCursor,
  type SortKey,
  type Start,
  startOf,
  textsOf,
  totalOf,
  writeCursor,
} from '../../../http/index.ts';
import type { Filter } from './filters.ts';

export type Sort = SortKey['sort'];

/**
 * A part of a list that one index has in order. A list is the concatenation of its parts: so rows without a value come last in either sort direction,
 * without sorting the whole list.
 */
export interface Part {
  /** Which rows are in it; all by default. */
  where?: RawBuilder<SqlBool>;
  /** Whether an index has the rows of all projects in this order, besides those of each. */
  isIndexedAcross?: true;
  /** Whether the sort key follows from labels or milestones: those that match a filter may then all come after the others, and are rather collected and sorted. */
  followsFilters?: true;
  /** The sort keys; ties are ordered by id, newest first. */
  by: readonly SortKey[];
  /** Where it begins in its order, behind the row that a cursor names. */
  from?: RawBuilder<SqlBool>;
}

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

/** Below this many rows it is faster to take the first rows of some projects or groups than to scan all of them at once. */
const mostOfPlaces = 100_000;

const all = (predicates: readonly RawBuilder<SqlBool>[]) => sql<SqlBool>`${sql.join(predicates, sql` and `)}`;

/** All predicates except that of the projects or groups. */
const within = ({ view, filters }: Selection) => [view.where, ...filters.map(({ where }) => where)];

/** The filters where rows are read in order. */
const testsOf = (filters: readonly Filter[]) => filters.map(({ where, test = where }) => test);

const rowId = ({ table }: IssuableKind) => sql.ref(`${table}.id`);
const placeId = ({ table, place_column }: IssuableKind) => sql.ref(`${table}.${place_column}`);

function ofPlaces({ kind, view: { place_ids }, filters }: Selection): RawBuilder<SqlBool> {
  if (!place_ids) return sql`true`;
  if (place_ids.length === 1) return sql`${placeId(kind)} = ${place_ids[0]}`;
  // Otherwise the planner would combine the search index with the rows of all projects. This way it checks the project of each match.
  const place = filters.some(({ isSearch }) => isSearch) ? sql`(${placeId(kind)} + 0)` : placeId(kind);
  return sql`${place} = any(${place_ids}::bigint[])`;
}

const ordering = (column: RawBuilder<unknown>, { sort, nulls }: SortKey) =>
  sql`${column} ${sql.raw(nulls ? `${sort} nulls ${nulls}` : sort)}`;

/** The predicates of a part. */
const ofPart = ({ where, from }: Part) => [where, from].filter((predicate) => predicate !== undefined);

/** What a row is sorted by, and its id. */
function columnsOf({ by }: Part, kind: IssuableKind) {
  const keys = by.map(({ column }, index) => sql`${column} as ${sql.ref(`key${index}`)}`);
  return sql.join([sql`${rowId(kind)} as row_id`, ...keys]);
}

/** @param named whether the columns have been selected as `columnsOf` does */
function orderOf(kind: IssuableKind, part: Part, named: boolean) {
  const keys = part.by.map((key, index) => ordering(named ? sql.ref(`key${index}`) : key.column, key));
  return sql`order by ${sql.join([...keys, sql`${named ? sql.ref('row_id') : rowId(kind)} desc`])}`;
}

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

/** The first ids of a part, read in order. */
function firstOfPart(part: Part, selection: Selection, count: number): RawBuilder<unknown> {
  const { kind, view, filters } = selection;
  const tests = [view.where, ...testsOf(filters), ...ofPart(part)];
  const places = view.place_ids?.length ?? 1;
  const collects = isCollected(part, filters);
  if (view.places && !collects) return firstOfMany(part, selection, view.places, count);
  if (places > 1 && !collects && places + Math.min(places, count) * count <= mostOfPlaces)
    return firstOfPlaces(part, kind, sql`select unnest(${view.place_ids}::bigint[])`, tests, count);
  const predicates = places > 1 || collects ? [...within(selection), ...ofPart(part)] : tests;
  return sql`select ${rowId(kind)} from ${sql.table(kind.table)} where ${all([ofPlaces(selection), ...predicates])} ${orderOf(kind, part, false)} limit ${sql.lit(count)}`;
}

const isLoose = (filters: readonly Filter[]) => filters.every(({ isNarrow }) => !isNarrow);

interface Found {
  ids: number[];
  /** How many rows the whole list has, if that became known; beyond `mostSearched` perhaps more. */
  total?: number;
  /** The last row of the page, if that is far and full. */
  last?: Position | null;
}

/** This many rows can be looked up and sorted without a noticeable delay. */
const mostGathered = 2000;
/** If looking up costs more than sorting, as many as are counted, so that they need not be counted again. */
const mostSearched = 10_001;

/** Whether one of the filters matches few rows, checked before any is looked up. If that cannot be known in advance, it is tried. */
function areFew(filters: readonly Filter[], most: number): RawBuilder<SqlBool> {
  const narrow = filters.filter(({ isNarrow }) => isNarrow);
  if (narrow.some(({ ids }) => !ids)) return sql`true`;
  const tests = narrow.map(
    ({ ids }) => sql`(select count(*) from (${ids} limit ${sql.lit(most + 1)}) first) <= ${sql.lit(most)}`,
  );
  return sql`(${sql.join(tests, sql` or `)})`;
}

/** The rows per page that most clients ask for. */
const usualSizes = new Set([20, 50, 100]);

/** Whether a list is asked for often: the first page of a project, with no more than so many filters. */
const isUsual = ({ view, filters }: Selection, { offset, cursor, per_page }: Start, most_filters: number): boolean =>
  view.place_ids?.length === 1 &&
  filters.length <= most_filters &&
  offset === 0 &&
  cursor === undefined &&
  usualSizes.has(per_page);

interface Matching {
  /** Common table expressions, each before a comma. */
  before: RawBuilder<unknown>;
  isShort: RawBuilder<SqlBool>;
  tests: readonly RawBuilder<SqlBool>[];
  /** Whether one plan is the best for all values. */
  isSteady: boolean;
}

/** Rows that match few ids of one filter are looked up by these, whatever the value. Otherwise PostgreSQL chooses the filter to begin with. */
function matchingOf(selection: Selection, most: number): Matching {
  const { kind, view, filters } = selection;
  const [only, ...others] = filters.filter(({ isNarrow }) => isNarrow);
  if (!only?.ids || others.length > 0)
    return { before: sql``, isShort: areFew(filters, most), tests: [ofPlaces(selection), ...within(selection)], isSteady: false };
  const rest = filters.filter((filter) => filter !== only).map(({ where }) => where);
  const isFirst = sql<SqlBool>`${rowId(kind)} = any(array(select id from first))`;
  return {
    before: sql`first(id) as materialized (${only.ids} limit ${sql.lit(most + 1)}), `,
    isShort: sql`(select count(*) from first) <= ${sql.lit(most)}`,
    tests: [isFirst, ofPlaces(selection), view.where, ...rest],
    isSteady: true,
  };
}

/** Selects the ids of a page, and where it ends, from a common table expression with the former. */
function selectedFrom(listed: 'listed', { kind }: Selection, parts: readonly Part[], { per_page, isFar }: Start) {
  const name = sql.table(listed);
  const last = sql`(select id from ${name} offset ${sql.lit(per_page - 1)} limit 1)`;
  const position = sql`(select ${positionOf(kind, parts)} from ${sql.table(kind.table)} where ${rowId(kind)} = ${last})`;
  return sql`array(select id from ${name}) as ids, ${isFar ? position : sql`null`} as last`;
}

/** The ids of a page of a short list, which is looked up entirely and thereby counted. Without ids if it turns out to be long. */
async function gathered(db: Database, selection: Selection, parts: readonly Part[], start: Start): Promise<Partial<Found>> {
  const { kind, filters } = selection;
  const rest = partsFrom(db, kind, parts, start);
  const most = filters.some(({ isSearch }) => isSearch) ? mostSearched : mostGathered;
  const keys = rest.flatMap(({ by }) => by).map((key, index) => ({ ...key, name: sql.ref(`key${index}`) }));
  const columns = [rowId(kind), ...keys.map(({ column, name }) => sql`${column} as ${name}`), sql`${placeOf(rest)} as part`];
  const order = keys.map((key) => ordering(key.name, key));
  const { before, isShort, tests, isSteady } = matchingOf(selection, most);
  const { rows } = await sql<
    Required<Found> & { is_short: boolean }
  >`${isSteady && isUsual(selection, start, 2) ? sql`` : customPlan}
    with ${before}bound as materialized (select ${isShort} as is_short),
         matching as materialized (select ${sql.join(columns)} from ${sql.table(kind.table)} where ${all([sql`(select is_short from bound)`, ...tests])} limit ${sql.lit(most + 1)}),
         listed as materialized (select id from matching where part is not null
           order by ${sql.join([sql`part`, ...order, sql`id desc`])} limit ${sql.lit(start.per_page + 1)} offset ${sql.lit(start.offset)})
    select (select is_short from bound) as is_short, (select count(*) from matching) as total, ${selectedFrom('listed', selection, parts, start)}`.execute(
    db,
  );
  const { is_short, ids, total, last } = rows[0]!;
  if (is_short && total <= most) return { ids, total, last };
  if (total <= mostSearched) return {};
  rememberLong(db, countingOf(selection, mostSearched), mostSearched);
  return { total };
}

/** The number of the part that a row is in; null before the place where the list begins. Its sort key is the same for all rows of later parts. */
function placeOf(parts: readonly Part[]) {
  const cases = parts.flatMap((part, index) => {
    const predicates = ofPart(part);
    return predicates.length > 0 ? sql`when ${all(predicates)} then ${sql.lit(index)}` : [];
  });
  return cases.length > 0 ? sql`case ${sql.join(cases, sql` `)} end` : sql`0`;
}

/** The keys that tell the rows of a part apart. */
const wholeKeys = (kind: IssuableKind, { by }: Part): SortKey[] => [...by, { column: rowId(kind), sort: 'desc' }];

/** Where a row is in a list. */
function positionOf(kind: IssuableKind, parts: readonly Part[]): RawBuilder<Position> {
  const cases = parts.map((part, index) => {
    const values = textsOf(wholeKeys(kind, part).map(({ column }) => column));
    return sql`when ${part.where ?? sql`true`} then json_build_object('part', ${sql.lit(index)}, 'values', ${values})`;
  });
  return sql`case ${sql.join(cases, sql` `)} end`;
}

/** The parts of a list from the beginning of a page on. */
function partsFrom(db: Database, kind: IssuableKind, parts: readonly Part[], { cursor }: Start): readonly Part[] {
  if (cursor === undefined) return parts;
  const keys = parts.map((part) => wholeKeys(kind, part));
  const { part, values } = readCursor(db, cursor, keys);
  const rest = rangesBehind(keys[part]!, values).map((from) => ({ ...parts[part]!, from }));
  return [...rest, ...parts.slice(part + 1)];
}

/** The ids of a page of a list of any length. The parts are read in order, as far as the end of the page. */
async function walked(db: Database, selection: Selection, parts: readonly Part[], start: Start): Promise<Found> {
  const { per_page, offset, isFar } = start;
  const limit = per_page + 1;
  const rest = partsFrom(db, selection.kind, parts, start);
  const firsts = rest.map((part) => sql`(${firstOfPart(part, selection, offset + limit)})`);
  const page = sql`select id from (${sql.join(firsts, sql` union all `)}) page limit ${sql.lit(limit)} offset ${sql.lit(offset)}`;
  if (isFar) {
    const { rows } = await sql<Found>`${customPlan}
      with listed as materialized (${page}) select ${selectedFrom('listed', selection, parts, start)}`.execute(db);
    return rows[0]!;
  }
  // With a filter, the best plan depends on how many rows match it.
  const { rows } = await sql<{ id: number }>`${isUsual(selection, start, 0) ? sql`` : customPlan}
    ${page}`.execute(db);
  return { ids: rows.map(({ id }) => id) };
}

/** Selects how many rows there are, up to `most`. */
function countingOf(selection: Selection, most: number): Counting {
  const { kind, view, filters } = selection;
  const tests = filters.map(({ where }) => where);
  const rows =
    view.places && isLoose(filters)
      ? sql`(${view.places.ids}) place(id) join ${sql.table(kind.table)} on ${placeId(kind)} = place.id where ${all([view.places.where, ...tests])}`
      : sql`${sql.table(kind.table)} where ${all([ofPlaces(selection), ...within(selection)])}`;
  return sql`${filters.length === 0 ? sql`` : customPlan}
    select count(*) as total from (select from ${rows} limit ${sql.lit(most)}) counted`;
}

/** Whether a search has found too many rows to look them all up: then it is walked for a while, because trying costs more than a page. */
const isKnownAsLong = (db: Database, selection: Selection): boolean =>
  selection.filters.some(({ isSearch }) => isSearch) && isKnownLong(db, countingOf(selection, mostSearched), mostSearched);

async function idsOfPage(db: Database, selection: Selection, parts: readonly Part[], start: Start): Promise<Found> {
  const isNarrow = selection.filters.some((filter) => filter.isNarrow);
  let tried: Partial<Found> = {};
  if (isKnownAsLong(db, selection)) tried = { total: mostSearched };
  else if (isNarrow) tried = await gathered(db, selection, parts, start);
  const { ids, total, last = null } = tried;
  const found = ids ? { ids, last } : await walked(db, selection, parts, start);
  return total === undefined ? found : { ...found, total };
}

/**
 * A page of a list.
 * @param present turns ids into replies
 * @throws ApiError as `paginate`
 */
export async function pageOfSelection<T>(
  db: Database,
  selection: Selection,
  parts: readonly Part[],
  input: Paging,
  present: (ids: readonly number[]) => Promise<T[]>,
): Promise<Page<T>> {
  const start = startOf(input);
  const { page, per_page, cursor } = start;
  const count = (most: number) => countRows(db, countingOf(selection, most), most);
  if (start.isBeyond) return pageBeyond(start, count);
  const { ids, total, last } = await readBehind(cursor, () => idsOfPage(db, selection, parts, start));
  const has_more = ids.length > per_page;
  const shown = ids.slice(0, per_page);
  const [items, counted] = await Promise.all([
    present(shown),
    totalOf({ start, shown: shown.length, has_more }, async (most) => total ?? count(most)),
  ]);
  const keys = () => parts.map((part) => wholeKeys(selection.kind, part));
  const end = has_more && last ? { cursor: writeCursor(db, keys(), last) } : {};
  return { items, page, per_page, has_more, ...end, ...counted };
}

/** How many there are in each state. */
export async function countByState(db: Database, selection: Selection): Promise<{ all: number; closed: number; opened: number }> {
  const { rows } = await sql<{ opened: number; closed: number }>`${customPlan}
    select count(*) filter (where state = 'opened') as opened, count(*) filter (where state = 'closed') as closed
      from ${sql.table(selection.kind.table)} where ${all([ofPlaces(selection), ...within(selection)])}`.execute(db);
  const { opened, closed } = rows[0]!;
  return { all: opened + closed, closed, opened };
}
