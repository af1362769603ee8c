/** Offset and keyset pagination (docs/api.md). */
import {
  AliasNode,
  IdentifierNode,
  type OperationNode,
  ReferenceNode,
  SelectAllNode,
  type SelectQueryBuilder,
  sql,
  TableNode,
} from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import { type Database, type DB, isAmong, isDataException, ofAnyLength } from '../db/index.ts';
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

const plain = (node: OperationNode): OperationNode => (AliasNode.is(node) ? node.node : node);

/**
 * Whether the rows of a list take more than reading its table: a join or a computed column. These are left for the rows of the page, because PostgreSQL
 * would make them for every row that the page skips, too.
 */
function isWide<D, T extends keyof D, Row>(query: SelectQueryBuilder<D, T, Row>): boolean {
  const { joins, selections = [] } = query.toOperationNode();
  return joins !== undefined || !selections.map(({ selection }) => plain(selection)).every(isColumn);
}

const isColumn = (node: OperationNode) => ReferenceNode.is(node) || SelectAllNode.is(node);

/** @returns the `id` of the table that a list is of */
function idOf<D, T extends keyof D, Row>(query: SelectQueryBuilder<D, T, Row>): string {
  const from = query.toOperationNode().from!.froms[0]!;
  if (TableNode.is(from)) return `${from.table.identifier.name}.id`;
  if (AliasNode.is(from) && IdentifierNode.is(from.alias)) return `${from.alias.name}.id`;
  throw new Error('The list is of no table: say which column tells its rows apart.');
}

/**
 * The ids of the rows on a page, for `rowsOf`, and whether more rows follow. Nothing of the select list is read.
 * @param query ordered, without limit and offset
 * @param id as for `paginate`
 */
export async function idsOnPage<D, T extends keyof D, Row>(
  query: SelectQueryBuilder<D, T, Row>,
  { per_page, offset = 0 }: { per_page: number; offset?: number },
  id: string = idOf(query),
): Promise<{ ids: number[]; has_more: boolean }> {
  const rows = await query
    .clearSelect()
    // No column that a list is ordered by has this name.
    .select(sql<number>`${sql.ref(id)}`.as('page_id'))
    .$castTo<{ page_id: number }>()
    .limit(per_page + 1)
    .offset(offset)
    .execute();
  return { ids: rows.slice(0, per_page).map(({ page_id }) => page_id), has_more: rows.length > per_page };
}

/**
 * The rows with these ids, in their order. Of a list of one table the text is the same for all filters and orders, so that PostgreSQL plans the columns,
 * which take longer to plan than to read, once.
 * @param query with its filters, which have chosen the ids
 * @param id as for `paginate`
 */
export async function rowsOf<D, T extends keyof D, Row>(
  query: SelectQueryBuilder<D, T, Row>,
  ids: readonly number[],
  id: string = idOf(query),
): Promise<Row[]> {
  if (ids.length === 0) return [];
  // What is joined may have several rows for one of the list, of which a filter chooses one.
  const all = query.toOperationNode().joins === undefined ? query.clearWhere() : query;
  return all
    .clearOrderBy()
    .where(isAmong(id, ids, 'bigint[]'))
    .orderBy(sql`array_position(${ofAnyLength(ids, 'bigint[]')}, ${sql.ref(id)})`)
    .execute();
}

/**
 * Runs `query` for one page and counts its rows up to the limit. The ids of the page are read first, by filters and order alone, and then its rows.
 * @param query ordered, without limit and offset
 * @param id the column that tells its rows apart, if that is not the `id` of its table
 */
export async function paginate<D, T extends keyof D, Row>(
  db: Database,
  query: SelectQueryBuilder<D, T, Row>,
  input: Paging,
  id?: string,
): Promise<Page<Row>> {
  const { page, per_page, offset } = pageAsked(input);
  const count = (shown: number, has_more: boolean) => totalOf({ offset, shown, has_more }, (most) => countOf(db, query, most));
  if (!isWide(query)) {
    const rows = await query
      .limit(per_page + 1)
      .offset(offset)
      .execute();
    const [items, has_more] = [rows.slice(0, per_page), rows.length > per_page];
    return { items, page, per_page, has_more, ...(await count(items.length, has_more)) };
  }
  const { ids, has_more } = await idsOnPage(query, { per_page, offset }, id);
  const [items, total] = await Promise.all([rowsOf(query, ids, id), count(ids.length, has_more)]);
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
  const keys = rest
    .clearSelect()
    .select([sql<number>`${tie}`.as('id'), sql<string>`${by}::text`.as('value')])
    .orderBy(by, sort)
    .orderBy(tie, sort)
    .limit(per_page + 1);
  const found = await keys.execute().catch((error: unknown) => {
    throw after && isDataException(error) ? badParams('cursor is invalid') : error;
  });
  const shown = found.slice(0, per_page);
  const [last, has_more] = [shown.at(-1), found.length > per_page];
  const next = has_more && last ? { cursor: writeCursor({ order_by, value: last.value, id: String(last.id) }) } : null;
  const items = await rowsOf(
    query,
    shown.map((row) => row.id),
    id,
  );
  return { items, page: 1, per_page, has_more, next };
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
