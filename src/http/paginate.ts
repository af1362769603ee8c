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
import { countRows, customPlan, type Database, type DB, isAmong, isDataException, ofAnyLength } from '../db/index.ts';
import { ApiError, badParams } from './errors.ts';

/** Longer lists have no totals, because counting would cost many times as much as the page. */
const maximumTotal = 10_000;
const maximumPerPage = 100;
const defaultPerPage = 20;

/**
 * From this offset on, a page is planned for its own values. A plan for all callers and pages expects few rows: for page 2,500 of the 150,000 projects of a member
 * it looked all of them up and sorted them (320 ms) instead of walking two indexes (13 ms).
 */
const deep = 1000;

export interface Page<T> {
  items: T[];
  page: number;
  per_page: number;
  /** Omitted if the list does not count or is too long. */
  total?: number;
  /** Whether another page follows; known even where the total is not. */
  has_more: boolean;
  /** For keyset pages only: the parameters of the next page; null on the last one. */
  next?: Record<string, string> | null;
}

/** The two parameters of every list. */
export const paging = {
  page: Type.Integer({ default: 1, description: 'Number of the page' }),
  per_page: Type.Integer({ default: defaultPerPage, description: 'Items per page, at most 100' }),
};
export type Paging = Static<TObject<typeof paging>>;

/** The same for lists from git, which refuse values that the others correct. */
export const gitPaging = {
  page: Type.Integer({ default: 1, minimum: 1 }),
  per_page: Type.Integer({ default: defaultPerPage, minimum: 1 }),
};

/** The parameters of a list that supports keyset pagination, besides its own `order_by` and `sort`. */
export const keysetPaging = {
  ...paging,
  pagination: Type.Optional(Type.Enum(['legacy', 'keyset'], { description: '`keyset` for long lists; follow the links' })),
  cursor: Type.Optional(Type.String({ description: 'Cursor of keyset pagination, from the link of the previous page' })),
};

/**
 * The requested page. Clients written for v3 send `page=0` for the first one, and at most 100 rows are on a page.
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
 * Whether a list has joins or computed columns. They are evaluated for the rows of the page only, because PostgreSQL would evaluate them for skipped rows as
 * well.
 */
function isWide<D, T extends keyof D, Row>(query: SelectQueryBuilder<D, T, Row>): boolean {
  const { joins, selections = [] } = query.toOperationNode();
  return joins !== undefined || !selections.map(({ selection }) => plain(selection)).every(isColumn);
}

const isColumn = (node: OperationNode) => ReferenceNode.is(node) || SelectAllNode.is(node);

/** @returns the `id` of the table of a list */
function idOf<D, T extends keyof D, Row>(query: SelectQueryBuilder<D, T, Row>): string {
  const from = query.toOperationNode().from!.froms[0]!;
  if (TableNode.is(from)) return `${from.table.identifier.name}.id`;
  if (AliasNode.is(from) && IdentifierNode.is(from.alias)) return `${from.alias.name}.id`;
  throw new Error('The list is of no table: say which column tells its rows apart.');
}

/**
 * The ids of the rows on a page, for `rowsOf`, and whether more rows follow. The select list is not evaluated.
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
    // An alias that no order of a list uses.
    .select(sql<number>`${sql.ref(id)}`.as('page_id'))
    .$castTo<{ page_id: number }>()
    .limit(per_page + 1)
    .offset(offset)
    .$if(offset >= deep, (page) => page.modifyEnd(customPlan))
    .execute();
  return { ids: rows.slice(0, per_page).map(({ page_id }) => page_id), has_more: rows.length > per_page };
}

/**
 * The rows with these ids, in their order. For a list of one table, the text is the same for all filters and orders: PostgreSQL then plans the columns only
 * once, which takes longer than reading them.
 * @param query with the filters that have selected the ids
 * @param id as for `paginate`
 */
export async function rowsOf<D, T extends keyof D, Row>(
  query: SelectQueryBuilder<D, T, Row>,
  ids: readonly number[],
  id: string = idOf(query),
): Promise<Row[]> {
  if (ids.length === 0) return [];
  // A join may have several rows for one row of the list, and a filter may select one of them.
  const all = query.toOperationNode().joins === undefined ? query.clearWhere() : query;
  return all
    .clearOrderBy()
    .where(isAmong(id, ids, 'bigint[]'))
    .orderBy(sql`array_position(${ofAnyLength(ids, 'bigint[]')}, ${sql.ref(id)})`)
    .execute();
}

/** The same of a list that is the concatenation of others, each ordered, which may be of different sizes for different values. */
async function idsOfParts<D, T extends keyof D>(
  db: Database,
  parts: readonly SelectQueryBuilder<D, T, unknown>[],
  { per_page, offset }: { per_page: number; offset: number },
  id: string,
): Promise<{ ids: number[]; has_more: boolean }> {
  const end = offset + per_page + 1;
  const firsts = parts.map(
    (part) =>
      sql`(${part
        .clearSelect()
        .select(sql<number>`${sql.ref(id)}`.as('page_id'))
        .limit(end)})`,
  );
  const { rows } = await sql<{ page_id: number }>`${customPlan}
    select page_id from (${sql.join(firsts, sql` union all `)}) listed limit ${sql.lit(per_page + 1)} offset ${sql.lit(offset)}`.execute(
    db,
  );
  return { ids: rows.slice(0, per_page).map(({ page_id }) => page_id), has_more: rows.length > per_page };
}

/** What a list may have besides its query. */
export interface PaginateOptions<D, T extends keyof D> {
  /** The column that identifies its rows, if it is not the `id` of its table. */
  id?: string;
  /** A list that contains this one and is counted at less cost; if it is too long to be counted, this one is not counted either. */
  within?: SelectQueryBuilder<D, T, unknown>;
  /**
   * Ordered lists whose concatenation this one is, read as far as the end of the page and planned for their values; its own order then does not matter. By
   * default the list is read in its own order.
   */
  parts?: readonly SelectQueryBuilder<D, T, unknown>[];
}

/**
 * Runs `query` for one page and counts its rows up to the limit. The ids of the page are read first, by filters and order alone, and then its rows.
 * @param query ordered, without limit and offset
 */
export async function paginate<D, T extends keyof D, Row>(
  db: Database,
  query: SelectQueryBuilder<D, T, Row>,
  input: Paging,
  { id, within, parts }: PaginateOptions<D, T> = {},
): Promise<Page<Row>> {
  const { page, per_page, offset } = pageAsked(input);
  const count = (shown: number, has_more: boolean) =>
    totalOf({ offset, shown, has_more }, async (most) =>
      within && (await countOf(db, within, most)) >= most ? most : countOf(db, query, most),
    );
  if (!parts && !isWide(query)) {
    const rows = await query
      .limit(per_page + 1)
      .offset(offset)
      .execute();
    const [items, has_more] = [rows.slice(0, per_page), rows.length > per_page];
    return { items, page, per_page, has_more, ...(await count(items.length, has_more)) };
  }
  const column = id ?? idOf(query);
  const { ids, has_more } = parts
    ? await idsOfParts(db, parts, { per_page, offset }, column)
    : await idsOnPage(query, { per_page, offset }, column);
  const [items, total] = await Promise.all([rowsOf(query, ids, column), count(ids.length, has_more)]);
  return { items, page, per_page, has_more, ...total };
}

/**
 * How many rows a list has, if they are few enough to be counted. On the last page this is known without counting.
 * @param page the number of rows before it, its rows, and whether more follow
 * @param count counts the rows up to `most`
 */
export async function totalOf(
  { offset, shown, has_more }: { offset: number; shown: number; has_more: boolean },
  count: (most: number) => Promise<number>,
): Promise<{ total?: number }> {
  const total = has_more || (shown === 0 && offset > 0) ? await count(maximumTotal + 1) : offset + shown;
  return total <= maximumTotal ? { total } : {};
}

function countOf<D, T extends keyof D, Row>(db: Database, query: SelectQueryBuilder<D, T, Row>, most: number): Promise<number> {
  const counted = query.clearSelect().clearOrderBy().select(sql<number>`1`.as('one')).limit(most);
  return countRows(db, sql<{ total: number }>`select count(*) as total from (${counted}) counted`, most);
}

/** The order of a list with keyset pagination. */
export interface KeyOrder {
  /** The values of `order_by`, each with its column, which is indexed and never null. */
  columns: Readonly<Record<string, string>>;
  order_by: string;
  sort: 'asc' | 'desc';
  /** The column that orders rows with equal values. */
  id: string;
}

interface Cursor {
  order_by: string;
  /** As PostgreSQL prints it, because a Timestamp has lost its microseconds. */
  value: string;
  id: string;
}

const writeCursor = (cursor: Cursor) => Buffer.from(JSON.stringify(cursor)).toString('base64url');

function readCursor(text: string, order_by: string): Cursor {
  try {
    const cursor = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (cursor.order_by === order_by && typeof cursor.value === 'string' && typeof cursor.id === 'string') return cursor;
  } catch {
    // Not one of ours; refused below.
  }
  throw badParams('cursor is invalid');
}

/**
 * Runs `query` for the page after a cursor, at the same cost on every page.
 * @param query without order, limit and offset
 * @throws ApiError 400 for an invalid cursor, 405 for an order without keyset pagination
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

/** 405 for `pagination=keyset` on a list, or in an order, that does not support it. */
export function keysetUnavailable(): ApiError {
  const text = 'Keyset pagination is not yet available for this type of request';
  return new ApiError(405, { message: text, error: text });
}

/** The same page with each of its items presented by `present`, in the same order. */
export function mapPage<Row, Shown>(page: Page<Row>, present: (row: Row, index: number) => Shown): Page<Shown> {
  return { ...page, items: page.items.map(present) };
}

/** A page of a list in memory. */
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
