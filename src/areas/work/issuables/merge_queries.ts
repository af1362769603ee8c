/** Pages that are merged from the rows of projects or groups, as their indexes have them. */
import { type RawBuilder, sql } from 'kysely';
import { type Database, expectedRows, withoutSorting } from '../../../db/index.ts';
import type { Filter } from './filters.ts';
import type { Reader } from './found_queries.ts';
import { boundsOf, type Selection, testsOf } from './match_queries.ts';
import { all, columnsOf, ofPart, orderOf, type Part, placeId } from './part_queries.ts';
import { readInOrder } from './walk_queries.ts';

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
function mergedOfPart(
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
 * Merges what projects or groups have.
 * @param compared a filter that is compared with what it looks up, if PostgreSQL can keep that in memory
 */
export const mergedWith =
  (compared: Filter | undefined): Reader =>
  (reading) =>
    readInOrder(
      reading,
      (part, count) => mergedOfPart(part, reading.selection, compared, count),
      (statement) => withoutSorting(reading.db, (tx) => statement.execute(tx)),
    );

/** The filter that rows are compared with after merging, if it is the only one that makes rows few, and looks up no more than so many. */
export async function comparedIn(db: Database, selection: Selection, most: number): Promise<Filter | undefined> {
  const only = onlySet(selection);
  return only && (await expectedRows(db, only.set)) <= most ? only.filter : undefined;
}
