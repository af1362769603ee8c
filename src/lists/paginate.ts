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
import { customPlan, type Database, type DB, isAmong, ofAnyLength } from '../db/index.ts';
import { ApiError, type Page, tooFar } from '../http/index.ts';
import {
  invalidCursor,
  type Position,
  rangesBehind,
  readBehind,
  readCursor,
  type SortKey,
  sortKeysOf,
  textsOf,
  writeCursor,
} from './cursor.ts';
import { beginningOf, endOf, listNamed } from './page_ends.ts';
import { deep, type Paging, pageAsked, type Start, startOf } from './paging.ts';
import { countRows } from './totals.ts';

/** Longer lists have no totals, because counting would cost many times as much as the page. */
const maximumTotal = 10_000;
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

interface Ends {
  ids: number[];
  has_more: boolean;
  /** The values of the sort keys of the last row, as texts. */
  values?: Position['values'] | undefined;
}

/**
 * The same of a list that is the concatenation of others, each ordered, planned for their values.
 * @param keys the sort keys of all of them, if it is to be told where the page ends
 */
async function idsOfParts<D, T extends keyof D>(
  db: Database,
  parts: readonly SelectQueryBuilder<D, T, unknown>[],
  { per_page, offset }: { per_page: number; offset: number },
  { id, keys = [] }: { id: string; keys?: readonly SortKey[] | undefined },
): Promise<Ends> {
  const end = offset + per_page + 1;
  const named = keys.map(({ column }, place) => column.as(`page_key${place}`));
  const firsts = parts.map(
    (part) =>
      sql`(${part
        .clearSelect()
        .select([sql<number>`${sql.ref(id)}`.as('page_id'), ...named])
        .limit(end)})`,
  );
  const texts = textsOf(keys.map((_, place) => sql.ref(`page_key${place}`)));
  const { rows } = await sql<{ page_id: number; values: Position['values'] }>`${customPlan}
    select page_id, ${texts} as values from (
      select * from (${sql.join(firsts, sql` union all `)}) listed limit ${sql.lit(per_page + 1)} offset ${sql.lit(offset)}) page`.execute(
    db,
  );
  const shown = rows.slice(0, per_page);
  return { ids: shown.map(({ page_id }) => page_id), has_more: rows.length > per_page, values: shown.at(-1)?.values };
}

/** The ids of a page from its beginning. With sort keys, a far one says where it ends. */
function idsFrom<D, T extends keyof D>(
  db: Database,
  query: SelectQueryBuilder<D, T, unknown>,
  { cursor, isFar, ...page }: Start,
  {
    id,
    keys,
    parts,
  }: {
    id: string;
    keys: readonly SortKey[] | undefined;
    parts: readonly SelectQueryBuilder<D, T, unknown>[] | undefined;
  },
): Promise<Ends> {
  if (cursor !== undefined) {
    const { values } = readCursor(db, cursor, keys ? [keys] : []);
    const ranges = rangesBehind(keys!, values).map((range) => query.where(range));
    return readBehind(cursor, () => idsOfParts(db, ranges, page, { id, keys }));
  }
  if (keys && isFar) return idsOfParts(db, parts ?? [query], page, { id, keys });
  return parts ? idsOfParts(db, parts, page, { id }) : idsOnPage(query, page, id);
}

/** What a list may have besides its query. */
export interface PaginateOptions<D, T extends keyof D> {
  /** The column that identifies its rows, if it is not the `id` of its table. */
  id?: string;
  /** A list that contains this one and is counted at less cost; if it is too long to be counted, this one is not counted either. */
  within?: SelectQueryBuilder<D, T, unknown>;
  /**
   * Ordered lists whose concatenation this one is, read as far as the end of the page; its own order then does not matter. By default the list is read in its
   * own order.
   */
  parts?: readonly SelectQueryBuilder<D, T, unknown>[];
  /** Whether the filters match few or most of all rows, depending on their values. Pages are then planned for these, as those in parts are. */
  varies?: boolean;
}

/**
 * Runs `query` for one page and counts its rows up to the limit. The ids of the page are read first, by filters and order alone, and then its rows.
 * @param query ordered, without limit and offset
 * @throws ApiError 400 for an invalid cursor or page, 405 for a page by number too far behind the beginning of a long list
 */
export async function paginate<D, T extends keyof D, Row>(
  db: Database,
  query: SelectQueryBuilder<D, T, Row>,
  input: Paging,
  { id = idOf(query), within, parts, varies = false }: PaginateOptions<D, T> = {},
): Promise<Page<Row>> {
  const keys = parts ? undefined : sortKeysOf(query, id);
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
  const [items, total] = await Promise.all([
    rowsOf(query, ids, id),
    totalOf({ start, shown: ids.length, has_more }, counting),
  ]);
  return { items, page, per_page, has_more, ...end, ...total };
}

/**
 * How many rows a list has, if they are few enough to be counted. On the last page and on one behind the last row that is counted, this is known without counting, unless
 * it was reached by a cursor.
 * @param page where it begins, its rows, and whether more follow
 * @param count counts the rows up to `most`
 */
export async function totalOf(
  { start, shown, has_more }: { start: Pick<Start, 'offset' | 'cursor'>; shown: number; has_more: boolean },
  count: (most: number) => Promise<number>,
): Promise<{ total?: number }> {
  const isKnown = start.cursor === undefined && (shown > 0 || start.offset === 0);
  const known = start.offset + shown;
  const total =
    isKnown && (!has_more || known >= maximumTotal) ? known + Number(has_more) : await count(maximumTotal + 1);
  return total <= maximumTotal ? { total } : {};
}

/**
 * An empty page, far behind the end of its list.
 * @param count as for `totalOf`
 * @throws ApiError 405 if the list is too long to be counted, because the page then need not be behind its end
 */
export async function pageBeyond(start: Start, count: (most: number) => Promise<number>): Promise<Page<never>> {
  const { page, per_page } = start;
  const { total } = await totalOf({ start, shown: 0, has_more: false }, count);
  if (total === undefined) throw new ApiError(405, { message: tooFar, error: tooFar });
  return { items: [], page, per_page, has_more: false, total };
}

function countOf<D, T extends keyof D, Row>(
  db: Database,
  query: SelectQueryBuilder<D, T, Row>,
  most: number,
): Promise<number> {
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

/** The same page with each of its items presented by `present`, in the same order. */
export function mapPage<Row, Shown>(page: Page<Row>, present: (row: Row, index: number) => Shown): Page<Shown> {
  return { ...page, items: page.items.map(present) };
}

/**
 * A page of a list in memory, which has no cursors.
 * @throws ApiError 400 as `pageAsked`, and for a cursor
 */
export function pageOfArray<T>(all: readonly T[], input: Paging): Page<T> {
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
