/** Pages that are looked for among the first rows of each project or group. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { cachesByDatabase, customPlan, type Database } from '../../../db/index.ts';
import { collected, collectedOfPart } from './collected_queries.ts';
import { nameOf } from './count_queries.ts';
import { type Found, foundIn, type Read, type Reader, type Reading, rowsUpTo, selectedFrom } from './found_queries.ts';
import { boundsOf, isNarrowed, type Selection, testsOf } from './match_queries.ts';
import { areMergeable, comparedIn, mergedWith, onlySet } from './merge_queries.ts';
import { all, columnsOf, namesOf, ofPart, orderOf, type Part, placeId } from './part_queries.ts';
import { firstOfAll, unnested } from './walk_queries.ts';

/** Whether few rows may match. In one project or group, PostgreSQL knows about how many. */
const mayBeFew = ({ view, filters }: Selection) =>
  isNarrowed(filters) || (view.place_ids?.length !== 1 && filters.some(({ varies }) => varies));

/**
 * How many rows are tested for a page that ends behind `count` rows, first and if that was not enough: what takes 5 and 30 milliseconds, less of a search, which reads
 * longer texts. Of more projects than can be named, the fewest of each are tested.
 */
const testsFor = ({ view, filters }: Selection, count: number): number[] => {
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

/**
 * The first ids of a part, each with `is_end`: beyond the first of these, the part is not known.
 * @param tests how many rows are tested in all projects or groups together; undefined to collect all that match
 */
function testedOfPart(part: Part, selection: Selection, count: number, tests: number | undefined): RawBuilder<unknown> {
  if (tests === undefined) return collectedOfPart(part, selection, count);
  const { places, place_ids = [], where } = selection.view;
  const tested = Math.max(fewestTested, Math.ceil(tests / Math.max(1, place_ids.length)));
  const firsts = firstOfTested(part, selection, places ?? { ids: unnested(place_ids), where }, { count, tested });
  return places && part.isIndexedAcross ? firstOfAll(part, selection, firsts, count) : firsts;
}

/** Merging as many rows that do not match, before the first ones that do, takes no longer than collecting all that do. */
const mostBefore = 75_000;

/** How a page is read if rows do not match that are looked up: there are no more than these before the first ones that do. */
async function readerBesideOthers(db: Database, selection: Selection): Promise<Reader | undefined> {
  if (!onlySet(selection)?.filter.others || !areMergeable(selection)) return undefined;
  const compared = await comparedIn(db, selection, mostBefore);
  return compared && mergedWith(compared);
}

/** How many attempts were in vain to find the first rows of each part of a list, for ten minutes: so that a list that is asked for again is read in the right way at once. */
const vainAttempts = cachesByDatabase<readonly number[]>(600_000);

/**
 * The ids of a page of a list of which few rows may match. They are looked for among the first rows of each project or group, at first among some thousand. A part in which
 * these are too few is read further, and in the end collected; then the statement is repeated, because planning for the worst takes as long as reading most pages. If a second
 * part is needed beside one that was collected, all are collected together. Those of which few do not match are merged instead.
 */
export async function tested(reading: Reading): Promise<Found> {
  const { db, selection, start, rest } = reading;
  const count = rowsUpTo(start);
  const keys = rest.flatMap(({ by }) => by);
  const list = start.cursor === undefined ? nameOf(db, selection, keys) : undefined;
  const tests = testsFor(selection, count);
  let attempts = (list === undefined ? undefined : vainAttempts(db).get(list)) ?? rest.map(() => 0);
  while (attempts.filter((vain) => vain === tests.length).length <= 1) {
    const merged = attempts.some((vain) => vain > 0) && (await readerBesideOthers(db, selection));
    if (merged) return merged(reading);
    const firsts = rest.map((part, index) => {
      const rows = testedOfPart(part, selection, count, tests[attempts[index]!]);
      return sql`(select id, case when is_end then ${sql.lit(index)} end as ends from (${rows}) part)`;
    });
    const { rows } = await sql<Read & { ends: number | null }>`${customPlan}
      with firsts as materialized (select id, ends from (${sql.join(firsts, sql` union all `)}) firsts limit ${sql.lit(count)}),
           near as materialized (select array(select id from firsts) as ids)
      select (select min(ends) from firsts) as ends, ${selectedFrom(reading)} from near`.execute(db);
    const { ends, ...found } = rows[0]!;
    if (ends === null) return foundIn(reading, found, count);
    const isSecond = attempts.includes(tests.length);
    attempts = attempts.with(ends, isSecond ? tests.length : attempts[ends]! + 1);
    if (list !== undefined) vainAttempts(db).set(list, attempts);
  }
  return collected(reading);
}
