/** Finding the ids of a page of a list of any kind, from indexes where possible. */
import { type QueryResult, type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  cachesByDatabase,
  customPlan,
  type Database,
  expectedRows,
  isKnownLong,
  rememberLong,
  withoutSorting,
} from '../../../db/index.ts';
import { furthest, type Position, rowsPerMark, type Start } from '../../../http/index.ts';
import { countingOf, expectedIn, isLongSearch, isLoose, mostGathered, mostSearched, nameOf } from './count_queries.ts';
import type { Filter } from './filters.ts';
import { all, type Part, partsFrom, placeInParts, positionOf, rowId } from './part_queries.ts';
import {
  areMergeable,
  fewestFar,
  firstOfPart,
  isEmpty,
  isTested,
  mergedOfPart,
  ofPlaces,
  onlySet,
  type Selection,
  testedOfPart,
  testsFor,
  within,
} from './walk_queries.ts';

interface Found {
  ids: number[];
  /** How many rows the whole list has, if that became known; beyond `mostSearched` perhaps more. */
  total?: number;
  /** The last row of the page, if that is far and full. */
  last?: Position | null;
  /** The rows to remember among those that were read. */
  marked?: Position[] | null;
}

/** What a statement selects that reads the rows before a page, too. */
interface Read extends Required<Omit<Found, 'total'>> {
  /** How many rows were read. */
  read: number;
}

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

/**
 * Selects a page from the common table expression `near`, which has an array of the ids of its rows and of those before it, and ends behind it at the earliest. Every
 * `rowsPerMark`th of them is marked, so that other far pages begin there.
 */
function selectedFrom({ kind }: Selection, parts: readonly Part[], start: Start): RawBuilder<unknown> {
  const { per_page, offset, cursor_row = 0, list, isFar } = start;
  const [position, table, id] = [positionOf(kind, parts), sql.table(kind.table), rowId(kind)];
  const last = sql`(select ${position} from ${table} where ${id} = near.ids[${sql.lit(offset + per_page)}])`;
  const [first, step] = [sql.lit(rowsPerMark - (cursor_row % rowsPerMark)), sql.lit(rowsPerMark)];
  const marked = sql`(
    select json_agg(${position} order by number)
      from generate_series(${first}, cardinality(near.ids), ${step}) number join ${table} on ${id} = near.ids[number])`;
  return sql`
    near.ids[${sql.lit(offset + 1)}:${sql.lit(offset + per_page + 1)}] as ids, cardinality(near.ids) as read,
    ${isFar ? last : sql`null`} as last, ${list === undefined ? sql`null` : marked} as marked`;
}

/** The ids of a page of a short list, which is looked up entirely and thereby counted. Without ids if it turns out to be long. */
async function gathered(db: Database, selection: Selection, parts: readonly Part[], start: Start): Promise<Partial<Found>> {
  const { kind, filters } = selection;
  const { columns, order } = placeInParts(kind, partsFrom(db, kind, parts, start));
  const most = filters.some(({ isSearch }) => isSearch) ? mostSearched : mostGathered;
  const { before, isShort, tests, isSteady } = matchingOf(selection, most);
  const page = { ...start, offset: 0, list: undefined };
  const { rows } = await sql<
    Read & { is_short: boolean; total: number }
  >`${isSteady && isUsual(selection, start, 2) ? sql`` : customPlan}
    with ${before}bound as materialized (select ${isShort} as is_short),
         matching as materialized (select ${columns} from ${sql.table(kind.table)} where ${all([sql`(select is_short from bound)`, ...tests])} limit ${sql.lit(most + 1)}),
         near as materialized (
           select array(select id from matching where part is not null ${order} limit ${sql.lit(start.per_page + 1)} offset ${sql.lit(start.offset)}) as ids)
    select (select is_short from bound) as is_short, (select count(*) from matching) as total, ${selectedFrom(selection, parts, page)} from near`.execute(
    db,
  );
  const { is_short, ids, total, last } = rows[0]!;
  if (is_short && total <= most) return { ids, total, last };
  if (total <= mostSearched) return {};
  rememberLong(db, countingOf(selection, mostSearched), mostSearched);
  return { total };
}

/** The parts of a list, and those from the beginning of a page on in which rows may match. */
interface Parts {
  parts: readonly Part[];
  rest: readonly Part[];
}

/** Whether a list is remembered to have more rows than are ever counted. */
const isKnownUncounted = (db: Database, selection: Selection): boolean =>
  isKnownLong(db, countingOf(selection, mostSearched), mostSearched);

/** What was found by reading up to `limit` rows: if a list was read from its beginning, they may tell how many it has. */
function foundIn(db: Database, selection: Selection, { cursor }: Start, { read, ...found }: Read, limit: number): Found {
  if (cursor !== undefined || (read === limit && limit < mostSearched)) return found;
  if (read >= mostSearched) rememberLong(db, countingOf(selection, mostSearched), mostSearched);
  return { ...found, total: read };
}

/**
 * The ids of a page of a list, from all rows that match, which are sorted. PostgreSQL might rather read the rows in order until enough match, which may be the last ones
 * only: `offset 0` keeps it from that.
 */
async function collected(db: Database, selection: Selection, { parts, rest }: Parts, start: Start): Promise<Found> {
  const { kind } = selection;
  const { columns, order } = placeInParts(kind, rest);
  const where = all([ofPlaces(selection), ...within(selection)]);
  const count = start.offset + start.per_page + 1;
  // Sorting more rows than those up to the page costs little: they are then counted, and other far pages are found at once.
  const limit = start.list !== undefined ? furthest : isKnownUncounted(db, selection) ? count : Math.max(count, mostSearched);
  const { rows } = await sql<Read>`${customPlan}
    with near as materialized (select array(
      select id from (select ${columns} from ${sql.table(kind.table)} where ${where} offset 0) matching
       where part is not null ${order} limit ${sql.lit(limit)}) as ids)
    select ${selectedFrom(selection, parts, start)} from near`.execute(db);
  return foundIn(db, selection, start, rows[0]!, limit);
}

/** Reads the ids of a page of a list from the parts in which rows may match. */
type Reader = (db: Database, selection: Selection, parts: Parts, start: Start) => Promise<Found>;

/** A far page is read on to where lists are no longer counted, if that is not much further: counting apart takes longer. */
const fewestToCount = 8000;

/**
 * Reads the parts of a list one after the other, as far as the end of a page.
 * @param rowsOf selects the first ids of a part
 * @param run runs the statement
 */
async function readInOrder(
  db: Database,
  selection: Selection,
  { parts, rest }: Parts,
  start: Start,
  rowsOf: (part: Part, count: number) => RawBuilder<unknown>,
  run: (statement: RawBuilder<Read>) => Promise<QueryResult<Read>>,
): Promise<Found> {
  const count = start.offset + start.per_page + 1;
  const counts = start.cursor === undefined && count >= fewestToCount && !isKnownUncounted(db, selection);
  const limit = counts ? Math.max(count, mostSearched) : count;
  const firsts = rest.map((part) => sql`(${rowsOf(part, limit)})`);
  const { rows } = await run(sql<Read>`${customPlan}
    with near as materialized (
      select array(select id from (${sql.join(firsts, sql` union all `)}) page limit ${sql.lit(limit)}) as ids)
    select ${selectedFrom(selection, parts, start)} from near`);
  return foundIn(db, selection, start, rows[0]!, limit);
}

/**
 * Merges what projects or groups have.
 * @param compared a filter that is compared with what it looks up, if PostgreSQL can keep that in memory
 */
const mergedWith =
  (compared: Filter | undefined): Reader =>
  (db, selection, parts, start) =>
    readInOrder(
      db,
      selection,
      parts,
      start,
      (part, count) => mergedOfPart(part, selection, compared, count),
      (statement) => withoutSorting(db, (tx) => statement.execute(tx)),
    );

/** PostgreSQL keeps no more than about twice as many ids in a hash table, and would read them all again for each row. */
const mostHashed = 200_000;
/** Merging as many rows that do not match, before the first ones that do, takes no longer than collecting all that do. */
const mostBefore = 75_000;

/** The filter that rows are compared with after merging, if it is the only one that makes rows few, and looks up no more than so many. */
async function comparedIn(db: Database, selection: Selection, most: number): Promise<Filter | undefined> {
  const only = onlySet(selection);
  return only && (await expectedRows(db, only.set)) <= most ? only.filter : undefined;
}

/** How a page is read if rows do not match that are looked up: there are no more than these before the first ones that do. */
async function readerBesideOthers(db: Database, selection: Selection): Promise<Reader | undefined> {
  if (!onlySet(selection)?.filter.others || !areMergeable(selection)) return undefined;
  const compared = await comparedIn(db, selection, mostBefore);
  return compared && mergedWith(compared);
}

/** The ids of a page of a list that is read in order, as far as the end of the page. */
async function walked(db: Database, selection: Selection, parts: Parts, start: Start): Promise<Found> {
  const rowsOf = (part: Part, count: number) => firstOfPart(part, selection, count);
  if (start.isFar) return readInOrder(db, selection, parts, start, rowsOf, (statement) => statement.execute(db));
  const { per_page, offset } = start;
  const firsts = parts.rest.map((part) => sql`(${rowsOf(part, offset + per_page + 1)})`);
  // With a filter, the best plan depends on how many rows match it.
  const { rows } = await sql<{ id: number }>`${isUsual(selection, start, 0) ? sql`` : customPlan}
    select id from (${sql.join(firsts, sql` union all `)}) page limit ${sql.lit(per_page + 1)} offset ${sql.lit(offset)}`.execute(
    db,
  );
  return { ids: rows.map(({ id }) => id) };
}

/** How many attempts were in vain to find the first rows of each part of a list, for ten minutes: so that a list that is asked for again is read in the right way at once. */
const vainAttempts = cachesByDatabase<readonly number[]>(600_000);

/**
 * The ids of a page of a list of which few rows may match. They are looked for among the first rows of each project or group, at first among some thousand. A part in which
 * these are too few is read further, and in the end collected; then the statement is repeated, because planning for the worst takes as long as reading most pages. If a second
 * part is needed beside one that was collected, all are collected together. Those of which few do not match are merged instead.
 */
async function tested(db: Database, selection: Selection, { parts, rest }: Parts, start: Start): Promise<Found> {
  const { per_page, offset, cursor } = start;
  const count = offset + per_page + 1;
  const keys = rest.flatMap(({ by }) => by);
  const list = cursor === undefined ? nameOf(db, selection, keys) : undefined;
  const tests = testsFor(selection, count);
  let attempts = (list === undefined ? undefined : vainAttempts(db).get(list)) ?? rest.map(() => 0);
  while (attempts.filter((vain) => vain === tests.length).length <= 1) {
    const merged = attempts.some((vain) => vain > 0) && (await readerBesideOthers(db, selection));
    if (merged) return merged(db, selection, { parts, rest }, start);
    const firsts = rest.map((part, index) => {
      const rows = testedOfPart(part, selection, count, tests[attempts[index]!]);
      return sql`(select id, case when is_end then ${sql.lit(index)} end as ends from (${rows}) part)`;
    });
    const { rows } = await sql<Read & { ends: number | null }>`${customPlan}
      with firsts as materialized (select id, ends from (${sql.join(firsts, sql` union all `)}) firsts limit ${sql.lit(count)}),
           near as materialized (select array(select id from firsts) as ids)
      select (select min(ends) from firsts) as ends, ${selectedFrom(selection, parts, start)} from near`.execute(db);
    const { ends, ...found } = rows[0]!;
    if (ends === null) return foundIn(db, selection, start, found, count);
    const isSecond = attempts.includes(tests.length);
    attempts = attempts.with(ends, isSecond ? tests.length : attempts[ends]! + 1);
    if (list !== undefined) vainAttempts(db).set(list, attempts);
  }
  return collected(db, selection, { parts, rest }, start);
}

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
  const read = await readerFor(db, selection, start.offset + start.per_page + 1);
  const found = await read(db, selection, { parts, rest }, start);
  return total === undefined ? found : { ...found, total };
}
