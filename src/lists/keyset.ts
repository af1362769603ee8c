/** Keyset pagination (docs/api.md). */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Database, DB } from '../db/index.ts';
import { ApiError, type Page } from '../http/index.ts';
import { sortKeysOf, writeCursor } from './cursor.ts';
import { idsFrom, rowsOf } from './page_of_query.ts';
import { type Paging, startOf } from './paging.ts';

/** The order of a list with keyset pagination. */
interface KeyOrder {
  /** The values of `order_by`, each with its column, which is indexed and never null. */
  columns: Readonly<Record<string, string>>;
  order_by: string;
  sort: 'asc' | 'desc';
  /** The column that orders rows with equal values. */
  id: string;
}

/**
 * Runs `query` for the page after a cursor, at the same cost on every page.
 * @param query without order, limit and offset
 * @throws ApiError 400 for an invalid cursor, 405 for an order without keyset pagination
 */
export async function paginateByKey<T extends keyof DB, Row>(
  db: Database,
  query: SelectQueryBuilder<DB, T, Row>,
  input: Paging,
  { columns, order_by, sort, id }: KeyOrder,
): Promise<Page<Row>> {
  const column = Object.hasOwn(columns, order_by) ? columns[order_by] : undefined;
  if (column === undefined) throw keysetUnavailable();
  const { per_page, cursor } = startOf({ ...input, page: 1 });
  const start = {
    page: 1,
    per_page,
    offset: 0,
    isFar: true,
    isBeyond: false,
    ...(cursor === undefined ? {} : { cursor }),
  };
  const ordered = query.orderBy(sql.ref(column), sort).orderBy(sql.ref(id), sort);
  const keys = sortKeysOf(ordered, id)!;
  const { ids, has_more, values } = await idsFrom(db, ordered, start, { id, keys, parts: undefined });
  const next = has_more ? { cursor: writeCursor(db, [keys], { part: 0, values: values! }) } : null;
  return { items: await rowsOf(query, ids, id), page: 1, per_page, has_more, next };
}

/** 405 for `pagination=keyset` on a list, or in an order, that does not support it. */
export function keysetUnavailable(): ApiError {
  const text = 'Keyset pagination is not yet available for this type of request';
  return new ApiError(405, { message: text, error: text });
}
