/** Pages of a query (docs/api.md). */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Database } from '../db/index.ts';
import type { Page } from '../http/index.ts';
import { invalidCursor, sortKeysOf } from './cursor.ts';
import { beginningOf, endOf, listNamed, nextOf } from './page_ends.ts';
import { idOf, idsFrom, isWide, rowsOf } from './page_of_query.ts';
import { isByKey, keysetUnavailable, type Paging, pageAsked, startOf } from './paging.ts';
import { pageBeyond, totalOf } from './total_of_page.ts';
import { countRows } from './totals.ts';

/** Options of a list besides its query. */
export interface PaginateOptions<D, T extends keyof D> {
  /** The column that identifies its rows, if it is not the `id` of its table. */
  id?: string;
  /** A list that contains this one and is cheaper to count; if it is too long to be counted, this one is not counted either. */
  within?: SelectQueryBuilder<D, T, unknown>;
  /**
   * Ordered lists whose concatenation is this list, each read up to the end of the page; the order of the query is then ignored. By default the list is read in its
   * own order.
   */
  parts?: readonly SelectQueryBuilder<D, T, unknown>[];
  /** Whether the filters match few or most of all rows, depending on their values. Pages are then planned for these values, like pages of lists in parts. */
  varies?: boolean;
}

/**
 * Runs `query` for one page and counts its rows up to the limit. The ids of the page are read first, using only filters and order, and then its rows.
 * @param query ordered, without limit and offset
 * @throws ApiError 400 for an invalid cursor or page, 405 for a page by number too far behind the beginning of a long list, and for pages by keyset of a list in
 * parts
 */
export async function paginate<D, T extends keyof D, Row>(
  db: Database,
  query: SelectQueryBuilder<D, T, Row>,
  input: Paging,
  { id = idOf(query), within, parts, varies = false }: PaginateOptions<D, T> = {},
): Promise<Page<Row>> {
  const keys = parts ? undefined : sortKeysOf(query, id);
  if (isByKey(input) && !keys) throw keysetUnavailable();
  const start = keys ? beginningOf(db, input, () => listNamed(query.compile())) : startOf(input);
  const { page, per_page, offset } = start;
  const counting = async (most: number) =>
    within && (await countOf(db, within, most)) >= most ? most : countOf(db, query, most);
  if (start.isBeyond) return pageBeyond(start, counting);
  const isTold = start.cursor !== undefined || (keys !== undefined && start.isFar);
  if (!isTold && !parts && !varies && !isWide(query)) {
    const rows = await query
      .limit(per_page + 1)
      .offset(offset)
      .execute();
    const [items, has_more] = [rows.slice(0, per_page), rows.length > per_page];
    return { items, page, per_page, has_more, ...(await totalOf({ start, shown: items.length, has_more }, counting)) };
  }
  const { ids, has_more, values } = await idsFrom(db, query, start, { id, keys, parts: varies ? [query] : parts });
  const end = keys ? endOf(db, start, has_more && values ? { part: 0, values } : undefined, [keys]) : {};
  if (isByKey(input)) return { items: await rowsOf(query, ids, id), page, per_page, has_more, next: nextOf(end) };
  const [items, total] = await Promise.all([
    rowsOf(query, ids, id),
    totalOf({ start, shown: ids.length, has_more }, counting),
  ]);
  return { items, page, per_page, has_more, ...end, ...total };
}

function countOf<D, T extends keyof D, Row>(
  db: Database,
  query: SelectQueryBuilder<D, T, Row>,
  most: number,
): Promise<number> {
  const counted = query.clearSelect().clearOrderBy().select(sql<number>`1`.as('one')).limit(most);
  return countRows(db, sql<{ total: number }>`select count(*) as total from (${counted}) counted`, most);
}

/** The same page with each of its items presented by `present`, in the same order. */
export function mapPage<Row, Shown>(page: Page<Row>, present: (row: Row, index: number) => Shown): Page<Shown> {
  return { ...page, items: page.items.map(present) };
}

/**
 * A page of a list in memory, which has no cursors.
 * @throws ApiError 400 as `pageAsked`, and for a cursor
 */
export function pageOfArray<T>(all: readonly T[], input: Omit<Paging, 'pagination'>): Page<T> {
  if (input.cursor) throw invalidCursor();
  const { page, per_page, offset } = pageAsked(input);
  return {
    items: all.slice(offset, offset + per_page),
    page,
    per_page,
    total: all.length,
    has_more: all.length > offset + per_page,
  };
}
