/** The ends of far pages: the cursors of links, and a cache for clients that count pages themselves (docs/decisions/0100-three-ways-to-read-a-page.md). */
import { hash } from 'node:crypto';
import type { CompiledQuery } from 'kysely';
import type { Database } from '../db/index.ts';
import { type Position, type SortKey, writeCursor } from './cursor.ts';
import { isByKey, type Paging, type Start, startOf } from './paging.ts';
import { cachesByDatabase } from './totals.ts';

/** The cursors of far pages by their lists and last rows. A minute is enough to request the next page, and short for pages that are requested again. */
const endsOf = cachesByDatabase<string>(60_000);

const endKey = (list: string, row: number) => `${list} ${row}`;

/** A short name of the list that a statement selects, including everything that determines its rows and their order. */
export const listNamed = ({ sql, parameters }: CompiledQuery): string =>
  hash('sha1', JSON.stringify([sql, parameters]));

/**
 * The beginning of a page of a list that has cursors. A far page by number starts where the previous page ended, if that was read by number a moment ago.
 * @param list names the list
 */
export function beginningOf(db: Database, input: Paging, list: () => string): Start {
  const start = startOf(input);
  if (start.cursor !== undefined || !start.isFar || isByKey(input)) return start;
  const numbered = { ...start, list: list() };
  const cursor = endsOf(db).get(endKey(numbered.list, start.offset));
  return cursor === undefined ? numbered : { ...numbered, cursor, offset: 0, isBeyond: false };
}

/**
 * Where a far page ended, for the link to the next one. For pages that clients reach by cursors it is not cached, because their page numbers are chosen by the
 * client.
 * @param last its last row, if more follow
 * @param keys the sort keys of each part of the list
 */
export function endOf(
  db: Database,
  { list, page, per_page, isFar }: Start,
  last: Position | null | undefined,
  keys: readonly (readonly SortKey[])[],
): { cursor?: string } {
  if (!last || !isFar) return {};
  const cursor = writeCursor(db, keys, last);
  if (list !== undefined) endsOf(db).set(endKey(list, page * per_page), cursor);
  return { cursor };
}

/** The parameters of the next page by keyset; null behind the last one. */
export const nextOf = ({ cursor }: { cursor?: string }): { cursor: string } | null =>
  cursor === undefined ? null : { cursor };
