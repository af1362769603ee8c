/** Offset and keyset pagination (docs/api.md). */
import { type SelectQueryBuilder, sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { type Database, type DB, isDataException } from '../db/index.ts';
import { ApiError, badParams } from './errors.ts';

/** Above this many rows a list leaves its totals out: counting costs many times what the page costs. */
const maximumTotal = 10_000;
const maximumPerPage = 100;
const defaultPerPage = 20;

export interface Page<T> {
  items: T[];
  page: number;
  per_page: number;
  /** Left out when the list does not count or is too long. */
  total?: number;
  /** Whether another page follows; known even where the total is not. */
  has_more: boolean;
  /** For keyset pages only: the parameters that continue after the last row, or null when nothing is left. */
  next?: Record<string, string> | null;
}

/** The two parameters of every list. */
export const paging = {
  page: Type.Integer({ default: 1, description: 'Number of the page' }),
  per_page: Type.Integer({ default: defaultPerPage, description: 'Items per page, at most 100' }),
};
export type Paging = Static<TObject<typeof paging>>;

/** The same for lists that come from git, which refuse what the others bend. */
export const gitPaging = {
  page: Type.Integer({ default: 1, minimum: 1 }),
  per_page: Type.Integer({ default: defaultPerPage, minimum: 1 }),
};

/** The parameters of a list that can also be read by keyset, besides its own `order_by` and `sort`. */
export const keysetPaging = {
  ...paging,
  pagination: Type.Optional(Type.Enum(['legacy', 'keyset'], { description: '`keyset` for long lists; follow the links' })),
  cursor: Type.Optional(Type.String({ description: 'Cursor of keyset pagination, from the link of the previous page' })),
};

/**
 * The page that is meant: clients written for v3 send `page=0` for the first one, and more than 100 rows is read as 100.
 * @throws ApiError 400 for `per_page=0`
 */
export function pageAsked({ page, per_page }: Paging): { page: number; per_page: number; offset: number } {
  if (per_page === 0) throw badParams('per_page has a value not allowed');
  const size = per_page < 0 ? defaultPerPage : Math.min(per_page, maximumPerPage);
  const number = Math.max(page, 1);
  return { page: number, per_page: size, offset: Math.min((number - 1) * size, Number.MAX_SAFE_INTEGER) };
}

/**
 * Runs `query` for one page and counts its rows up to the limit.
 * @param query ordered, without limit and offset
 */
export async function paginate<D, T extends keyof D, Row>(
  db: Database,
  query: SelectQueryBuilder<D, T, Row>,
  input: Paging,
): Promise<Page<Row>> {
  const { page, per_page, offset } = pageAsked(input);
  const rows = await query
    .limit(per_page + 1)
    .offset(offset)
    .execute();
  const has_more = rows.length > per_page;
  const items = has_more ? rows.slice(0, per_page) : rows;
  const total = await totalOf({ offset, shown: items.length, has_more }, (most) => countOf(db, query, most));
  return { items, page, per_page, has_more, ...total };
}

/**
 * How many rows a list has, where they are few enough to be counted. A page that is the last one knows it without counting.
 * @param page the rows before it, those on it, and whether more follow
 * @param count counts the rows, and stops at `most`
 */
export async function totalOf(
  { offset, shown, has_more }: { offset: number; shown: number; has_more: boolean },
  count: (most: number) => Promise<number>,
): Promise<{ total?: number }> {
  const total = has_more || (shown === 0 && offset > 0) ? await count(maximumTotal + 1) : offset + shown;
  return total <= maximumTotal ? { total } : {};
}

async function countOf<D, T extends keyof D, Row>(
  db: Database,
  query: SelectQueryBuilder<D, T, Row>,
  most: number,
): Promise<number> {
  const counted = query.clearSelect().clearOrderBy().select(sql<number>`1`.as('one')).limit(most);
  const { rows } = await sql<{ total: number }>`select count(*) as total from (${counted}) counted`.execute(db);
  return rows[0]!.total;
}

/** In which order a list is read by keyset. */
export interface KeyOrder {
  /** What `order_by` may be, with the column of each: one that is never null, and by which the query has an index. */
  columns: Readonly<Record<string, string>>;
  order_by: string;
  sort: 'asc' | 'desc';
  /** The column that tells rows of one value apart. */
  id: string;
}

interface Cursor {
  order_by: string;
  /** As PostgreSQL writes it: a Timestamp of ours has lost its microseconds. */
  value: string;
  id: string;
}

const writeCursor = (cursor: Cursor) => Buffer.from(JSON.stringify(cursor)).toString('base64url');

function readCursor(text: string, order_by: string): Cursor {
  try {
    const cursor = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (cursor.order_by === order_by && typeof cursor.value === 'string' && typeof cursor.id === 'string') return cursor;
  } catch {
    // Not of ours, refused below like the others.
  }
  throw badParams('cursor is invalid');
}

/**
 * Runs `query` for the page after a cursor, whatever its length costs the same.
 * @param query without order, limit and offset
 * @throws ApiError 400 for a cursor that is none, 405 for an order that the list cannot be read in by keyset
 */
export async function paginateByKey<T extends keyof DB, Row>(
  query: SelectQueryBuilder<DB, T, Row>,
  input: Paging & { cursor?: string },
  { columns, order_by, sort, id }: KeyOrder,
): Promise<Page<Row>> {
  const column = Object.hasOwn(columns, order_by) ? columns[order_by] : undefined;
  if (column === undefined) throw keysetUnavailable();
  const { per_page } = pageAsked(input);
  const after = input.cursor ? readCursor(input.cursor, order_by) : undefined;
  const [by, tie] = [sql.ref(column), sql.ref(id)];
  const comparison = sql.raw(sort === 'asc' ? '>' : '<');
  const rest = after ? query.where(sql<boolean>`(${by}, ${tie}) ${comparison} (${after.value}, ${after.id})`) : query;
  const ordered = rest
    .select([sql<string>`${by}::text`.as('key_value'), sql<string>`${tie}::text`.as('key_id')])
    .orderBy(by, sort)
    .orderBy(tie, sort)
    .limit(per_page + 1);
  const rows = await ordered.execute().catch((error: unknown) => {
    throw after && isDataException(error) ? badParams('cursor is invalid') : error;
  });
  const has_more = rows.length > per_page;
  const items = rows.slice(0, per_page);
  const last = items.at(-1);
  const next = has_more && last ? { cursor: writeCursor({ order_by, value: last.key_value, id: last.key_id }) } : null;
  return { items: items.map(({ key_value: _value, key_id: _id, ...row }) => row as Row), page: 1, per_page, has_more, next };
}

/** 405 for `pagination=keyset` on a list, or in an order, that does not offer it. */
export function keysetUnavailable(): ApiError {
  const text = 'Keyset pagination is not yet available for this type of request';
  return new ApiError(405, { message: text, error: text });
}

/** The same page with each of its items presented by `present`, in the same order. */
export function mapPage<Row, Shown>(page: Page<Row>, present: (row: Row, index: number) => Shown): Page<Shown> {
  return { ...page, items: page.items.map(present) };
}

/** The page of a list that is in memory already. */
export function pageOfArray<T>(all: readonly T[], input: Paging): Page<T> {
  const { page, per_page, offset } = pageAsked(input);
  return {
    items: all.slice(offset, offset + per_page),
    page,
    per_page,
    total: all.length,
    has_more: all.length > offset + per_page,
  };
}
