/**
 * Pages that are found in the indexes which have the rows of each place (project or group) in the order of the list.
 *
 * Of each place the first rows are tested, and those that match are merged. If too few of them match, the last one that was tested is listed as a mark: behind it, rows
 * of that place may be missing. What is before all marks is the beginning of the list. By weight, with three rows tested in each of two projects:
 *
 *     project 1:  9 +  7 -  6 -  | mark at 6       + matches, - does not
 *     project 2:  8 +  5 +  4 -  | mark at 4
 *     merged:     9  8  [6]  5  [4]
 *
 * A page of two rows is 9 and 8. One of three is not known: project 1 may have another row between 6 and 5. Then more rows are tested.
 *
 * At first each place is asked for its first row only, because the first n rows of a list are in the n places whose first row comes first.
 *
 * Without marks, the list of a label that half of the projects lack read all issues of these: 1.4 s instead of 16 ms.
 */
import { type RawBuilder, sql } from 'kysely';
import { customPlan } from '../db/index.ts';
import { columnsOf, inPart, namesOf, orderNamed, orderOf, type Part } from './parts.ts';
import { type Found, foundOn, type Reading, rowsUpTo } from './reading.ts';
import { all, isWide, type Predicate, placeId, type Selection } from './selection.ts';
import { thresholds } from './thresholds.ts';

/** The places whose first rows are tested. */
interface Places {
  ids: RawBuilder<unknown>;
  /** A predicate on rows: they are in the place with the id `place.id`. */
  areIn: Predicate;
  /** A predicate on rows in a place: the caller may read them. */
  where: Predicate;
  /** The number of tested rows in each place. */
  tested: number;
}

/** Selects the first `count` rows of a part, and marks. */
function firstOf(part: Part, { kind, filters }: Selection, { ids, areIn, where, tested }: Places, count: number) {
  const [table, order] = [sql.table(kind.table), orderNamed(part)];
  const tests = all([where, ...filters.map((filter) => filter.test ?? filter.where)]);
  const inOrder = (columns: RawBuilder<unknown>) => sql`
    select ${columnsOf(part, kind)}, ${columns} from ${table} where ${all([areIn, ...inPart(part, filters)])} ${orderOf(part, kind)}`;
  // Ordered by column names, because PostgreSQL does not detect from outside that rows are in the order of an expression.
  const firstRows = (limit: number) => sql`lateral (
    (select ${namesOf(part)}, false as is_mark from (${inOrder(sql`${table}.*`)} limit ${sql.lit(tested)}) ${table}
      where ${tests} ${order} limit ${sql.lit(limit)})
    union all (${inOrder(sql`true`)} limit 1 offset ${sql.lit(tested - 1)})
    limit ${sql.lit(limit)}) first_rows`;
  return sql`(
    select row_id, is_mark from (
      select first_rows.* from (select place.id from (${ids}) place(id), ${firstRows(1)} ${order} limit ${sql.lit(count)}) place, ${firstRows(count)}) merged
     ${order} limit ${sql.lit(count)})`;
}

/** The page, unless a mark comes before its end. */
async function walkThrough(reading: Reading, places: Places): Promise<Found | undefined> {
  const { db, selection, start, rest } = reading;
  const count = rowsUpTo(start);
  const parts = rest.map((part) => firstOf(part, selection, places, count));
  const isUsual = selection.filters.length === 0 && start.offset === 0 && start.cursor === undefined;
  // With filters, the best plan depends on how many rows match.
  const { rows } = await sql<Found & { is_marked: boolean | null }>`${isUsual ? sql`` : customPlan}
    with first_rows as materialized (select row_id, is_mark from (${sql.join(parts, sql` union all `)}) first_rows limit ${sql.lit(count)}),
         page as materialized (
           select array(select row_id from first_rows limit ${sql.lit(start.per_page + 1)} offset ${sql.lit(start.offset)}) as ids)
    select (select bool_or(is_mark) from first_rows) as is_marked, ${foundOn(reading)}`.execute(db);
  const { is_marked, ...found } = rows[0]!;
  return is_marked ? undefined : found;
}

/** The places of a list, tested less and then more. */
function placesFor({ selection: { kind, view, filters }, start, rest }: Reading): Places[] {
  const { tested, testedPerRow, testedPerPlace, near } = thresholds;
  const count = rowsUpTo(start);
  const enough = filters.every(isWide) && count <= near ? testedPerRow * count : testedPerPlace;
  const areIn: Predicate = sql`${placeId(kind)} = place.id`;
  if (view.places) {
    const each = { ...view.places, areIn, tested: enough };
    if (!rest.every(({ isIndexedAcross }) => isIndexedAcross)) return [each];
    // For callers who may read many rows, such as administrators, the first rows of all places are enough.
    const everywhere = { ids: sql`select 0`, areIn: sql<boolean>`true`, where: view.where };
    return [{ ...everywhere, tested: Math.max(tested[0]!, testedPerRow * count) }, each];
  }
  const ids = view.place_ids!;
  const shares = tested.map((most) => Math.ceil(Math.max(most, testedPerRow * count) / Math.max(1, ids.length)));
  return [...new Set(shares.map((share) => Math.max(share, enough)))].map((rows) => ({
    ids: sql`select unnest(${ids}::bigint[])`,
    areIn,
    where: view.where,
    tested: rows,
  }));
}

/** Finds a page among the first rows of each place, unless too few of these match. */
export async function walk(reading: Reading): Promise<Found | undefined> {
  for (const places of placesFor(reading)) {
    const found = await walkThrough(reading, places);
    if (found) return found;
  }
  return undefined;
}
