/** Pages of lists for which all matching rows are read and sorted. */
import { sql } from 'kysely';
import { customPlan } from '../db/index.ts';
import { placeInParts } from './parts.ts';
import { type Found, foundOn, type Reading } from './reading.ts';
import { isRead } from './selection.ts';

/** All matching rows, and their order, in which the rows of a page are `window`. */
export function sorted({ selection, rest, start: { per_page, offset } }: Reading) {
  const { kind } = selection;
  const { columns, order } = placeInParts(kind, rest);
  return {
    rows: sql`select ${columns} from ${sql.table(kind.table)} where ${isRead(selection)}`,
    window: sql`where part is not null ${order} limit ${sql.lit(per_page + 1)} offset ${sql.lit(offset)}`,
  };
}

/** Finds a page among all rows that match. PostgreSQL might instead read rows in order until enough match, which may be only the last ones: `offset 0` prevents that. */
export async function collect(reading: Reading): Promise<Found> {
  const { rows, window } = sorted(reading);
  const found = await sql<Found>`${customPlan}
    with page as materialized (select array(select row_id from (${rows} offset 0) matching ${window}) as ids)
    select ${foundOn(reading)}`.execute(reading.db);
  return found.rows[0]!;
}
