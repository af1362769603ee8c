/** What is known of a page before it is found, and what is found. */
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
  /** Those from the beginning of the page on. */
  rest: readonly Part[];
}

export interface Found {
  /** The ids of the rows of a page, and of the next one if there is any. */
  ids: number[];
  /** The last row of the page, if that is far and full. */
  last: Position | null;
  /** How many rows the whole list has, if that became known. */
  total?: number;
}

/** How many rows there are from the beginning on up to the end of a page, and the one behind it. */
export const rowsUpTo = ({ offset, per_page }: Start): number => offset + per_page + 1;

/** Selects `ids` of `page`, which may have one more than the page, and where its last row is, for the link to the next one. */
export function foundOn({ selection: { kind }, parts, start: { per_page, isFar } }: Reading): RawBuilder<unknown> {
  const last = sql`(select ${positionOf(kind, parts)} from ${sql.table(kind.table)} where ${rowId(kind)} = page.ids[${sql.lit(per_page)}])`;
  return sql`ids, ${isFar ? last : sql`null`} as last from page`;
}
