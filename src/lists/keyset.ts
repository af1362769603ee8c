/** Keyset pagination (docs/api.md). */
import { type SelectQueryBuilder, sql } from 'kysely';
import type { Database, DB } from '../db/index.ts';
import type { Page } from '../http/index.ts';
import { paginate } from './paginate.ts';
import { keysetUnavailable, type Paging } from './paging.ts';

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
  const ordered = query.orderBy(sql.ref(column), sort).orderBy(sql.ref(id), sort);
  return paginate(db, ordered, { ...input, pagination: 'keyset' }, { id });
}
