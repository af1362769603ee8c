/** The request for a page, and its result. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/index.ts';
import type { Position } from './cursor.ts';
import type { Start } from './paging.ts';
import { type Part, positionOf } from './parts.ts';
import { rowId, type Selection } from './selection.ts';

/** A page to be found. */
export interface Reading {
  db: Database;
  selection: Selection;
  start: Start;
  /** All parts of the list. */
  parts: readonly Part[];
  /** The parts from the start of the page on. */
  rest: readonly Part[];
}

export interface Found {
  /** The ids of the rows of a page, and of the next one if there is any. */
  ids: number[];
  /** The last row of the page, if the page is far and full. */
  last: Position | null;
  /** The number of rows of the whole list, if known. */
  total?: number;
}

/** The number of rows from the start on up to the end of a page, plus the one after it. */
export const rowsUpTo = ({ offset, per_page }: Start): number => offset + per_page + 1;

/** Selects `ids` of `page`, which may contain one more than the page, and the position of its last row, for the link to the next one. */
export function foundOn({ selection: { kind }, parts, start: { per_page, isFar } }: Reading): RawBuilder<unknown> {
  const last = sql`(select ${positionOf(kind, parts)} from ${sql.table(kind.table)} where ${rowId(kind)} = page.ids[${sql.lit(per_page)}])`;
  return sql`ids, ${isFar ? last : sql`null`} as last from page`;
}
