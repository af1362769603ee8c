/** Where far pages begin and end: the cursors of links, and what is remembered for clients that count pages themselves (docs/decisions/0063-far-pages-have-cursors.md). */
import { hash } from 'node:crypto';
import type { CompiledQuery } from 'kysely';
import { cachesByDatabase, type Database } from '../db/index.ts';
import { cursorsOf, type Position, type SortKey, writeCursor } from './cursor.ts';
import { deep, type Paging, type Start, startOf } from './page_start.ts';

/** The cursors of far pages by their lists and last rows. A minute is enough to ask for the next page, and short for pages that are asked for again. */
const endsOf = cachesByDatabase<string>(60_000);

const endKey = (list: string, row: number) => `${list} ${row}`;

/** Every this many rows of a list are marked. A page begins at most this many behind a mark, unless none is known. */
export const rowsPerMark = 200;

/** The cursors of marked rows by their numbers, for the lists that were last read far: up to 250 for each. */
const marksOf = cachesByDatabase<Map<number, string>>(60_000, 100);

/** A short name of the list that a statement selects, with everything that decides on its rows and their order. */
export const listNamed = ({ sql, parameters }: CompiledQuery): string => hash('sha1', JSON.stringify([sql, parameters]));

/** The last marked row that is not far before a page. */
function markBefore(marks: ReadonlyMap<number, string>, offset: number): { cursor: string; cursor_row: number } | undefined {
  for (let row = offset - (offset % rowsPerMark); row > Math.max(0, offset - deep); row -= rowsPerMark) {
    const cursor = marks.get(row);
    if (cursor !== undefined) return { cursor, cursor_row: row };
  }
  return undefined;
}

/**
 * The beginning of a page of a list that has cursors. A far page by number begins where the page before it ended, if that was read by number a moment ago, or some rows behind
 * one that was marked then.
 * @param list names the list
 */
export function beginningOf(db: Database, input: Paging, list: () => string): Start {
  const start = startOf(input);
  if (start.cursor !== undefined || !start.isFar) return start;
  const { offset } = start;
  const numbered = { ...start, list: list() };
  const cursor = endsOf(db).get(endKey(numbered.list, offset));
  if (cursor !== undefined) return { ...numbered, cursor, cursor_row: offset, offset: 0, isBeyond: false };
  const marks = start.isBeyond ? undefined : marksOf(db).get(numbered.list);
  const mark = marks && markBefore(marks, offset);
  return mark ? { ...numbered, ...mark, offset: offset - mark.cursor_row } : numbered;
}

/**
 * Remembers the rows of a list whose numbers are multiples of `rowsPerMark`.
 * @param marked consecutive ones, behind the row of the cursor if there is any
 * @param keys the sort keys of each part of the list
 */
export function rememberMarks(
  db: Database,
  { list, cursor_row = 0 }: Start,
  marked: readonly Position[],
  keys: readonly (readonly SortKey[])[],
): void {
  if (list === undefined || marked.length === 0) return;
  const known = marksOf(db).get(list);
  const marks = known ?? new Map<number, string>();
  const before = Math.floor(cursor_row / rowsPerMark);
  const cursorOf = cursorsOf(db, keys);
  for (const [index, position] of marked.entries()) marks.set((before + index + 1) * rowsPerMark, cursorOf(position));
  if (!known) marksOf(db).set(list, marks);
}

/**
 * Where a far page ended, for the link to the next one. Of pages that clients reach by cursors it is not remembered, because the numbers of these are theirs.
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
