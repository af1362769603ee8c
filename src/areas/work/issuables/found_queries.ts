/** What the statements select that find a page of a list. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { type Position, rowsPerMark, type Start } from '../../../http/index.ts';
import { isKnownUncounted, mostSearched, rememberUncounted } from './count_queries.ts';
import type { Selection } from './match_queries.ts';
import { type Part, positionOf, rowId } from './part_queries.ts';

export interface Found {
  ids: number[];
  /** How many rows the whole list has, if that became known; beyond `mostSearched` perhaps more. */
  total?: number;
  /** The last row of the page, if that is far and full. */
  last?: Position | null;
  /** The rows to remember among those that were read. */
  marked?: Position[] | null;
}

/** What a statement selects that reads the rows before a page, too. */
export interface Read extends Required<Omit<Found, 'total'>> {
  /** How many rows were read. */
  read: number;
}

/** A page to be read. */
export interface Reading {
  db: Database;
  selection: Selection;
  start: Start;
  /** All parts of the list. */
  parts: readonly Part[];
  /** Those from the beginning of the page on in which rows may match. */
  rest: readonly Part[];
}

/** A way to find the ids of a page. */
export type Reader = (reading: Reading) => Promise<Found>;

/** How many rows there are from the beginning on up to the end of a page, and the one behind it. */
export const rowsUpTo = ({ offset, per_page }: Start): number => offset + per_page + 1;

/**
 * Selects a page from the common table expression `near`, which has an array of the ids of its rows and of those before it, and ends behind it at the earliest. Every
 * `rowsPerMark`th of them is marked, so that other far pages begin there.
 */
export function selectedFrom({
  selection: { kind },
  parts,
  start,
}: Pick<Reading, 'selection' | 'parts' | 'start'>): RawBuilder<unknown> {
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

/** Whether reading more rows than a page needs may tell how many a list has, which nothing else has told. */
export const isToBeCounted = ({ db, selection, start }: Reading): boolean =>
  start.cursor === undefined && !isKnownUncounted(db, selection);

/** What was found by reading up to `limit` rows: if a list was read from its beginning, they may tell how many it has. */
export function foundIn({ db, selection, start: { cursor } }: Reading, { read, ...found }: Read, limit: number): Found {
  if (cursor !== undefined || (read === limit && limit < mostSearched)) return found;
  if (read >= mostSearched) rememberUncounted(db, selection);
  return { ...found, total: read };
}
