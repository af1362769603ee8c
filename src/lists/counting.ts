/** The number of rows of a list, and its cache key. */
import { type RawBuilder, sql } from 'kysely';
import { customPlan, type Database } from '../db/index.ts';
import type { SortKey } from './cursor.ts';
import { listNamed } from './page_ends.ts';
import { all, isNarrow, isRead, placeId, type Selection } from './selection.ts';
import type { Counting } from './totals.ts';

/** Selects the rows of a list, in no order. Unless an index finds them, the rows of lists with more places than are listed by id are found through their places. */
function rowsIn(selection: Selection): RawBuilder<unknown> {
  const { kind, view, filters } = selection;
  if (!view.places || filters.some(isNarrow))
    return sql`select from ${sql.table(kind.table)} where ${isRead(selection)}`;
  const tests = all([view.places.where, ...filters.map(({ where }) => where)]);
  return sql`select from (${view.places.ids}) place(id) join ${sql.table(kind.table)} on ${placeId(kind)} = place.id where ${tests}`;
}

/** Selects the number of rows, up to `most`. */
export const countingOf = (selection: Selection, most: number): Counting =>
  sql`${selection.filters.length === 0 ? sql`` : customPlan}
    select count(*) as total from (${rowsIn(selection)} limit ${sql.lit(most)}) counted`;

/** Identifies a list in its order. */
export function nameOf(db: Database, selection: Selection, keys: readonly SortKey[]): string {
  const order = keys.map(({ column, sort }) => sql`${column} ${sql.raw(sort)}`);
  return listNamed(sql`${countingOf(selection, 0)} ${sql.join(order)}`.compile(db));
}
