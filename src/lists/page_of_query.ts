/** Finds the ids of a page of a query, and then its rows. */
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
import { customPlan, type Database, isAmong, ofAnyLength } from '../db/index.ts';
import { type Position, rangesBehind, readBehind, readCursor, type SortKey, textsOf } from './cursor.ts';
import type { Start } from './paging.ts';
import { thresholds } from './thresholds.ts';

const plain = (node: OperationNode): OperationNode => (AliasNode.is(node) ? node.node : node);

/**
 * Whether a list has joins or computed columns. They are evaluated for the rows of the page only, because PostgreSQL would evaluate them for skipped rows as
 * well.
 */
export function isWide<D, T extends keyof D, Row>(query: SelectQueryBuilder<D, T, Row>): boolean {
  const { joins, selections = [] } = query.toOperationNode();
  return joins !== undefined || !selections.map(({ selection }) => plain(selection)).every(isColumn);
}

const isColumn = (node: OperationNode) => ReferenceNode.is(node) || SelectAllNode.is(node);

/** @returns the `id` of the table of a list */
export function idOf<D, T extends keyof D, Row>(query: SelectQueryBuilder<D, T, Row>): string {
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
    .$if(offset >= thresholds.far, (page) => page.modifyEnd(customPlan))
    .execute();
  return { ids: rows.slice(0, per_page).map(({ page_id }) => page_id), has_more: rows.length > per_page };
}

/**
 * The rows with these ids, in their order. For a list of one table, the SQL text is the same for all filters and orders: PostgreSQL then plans the columns only
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
  // A join may yield several rows for one row of the list, of which a filter may select one.
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
 * The same for a list that is the concatenation of other ordered lists. The statement is planned for its values.
 * @param keys the sort keys of all of them, if the caller needs the end of the page
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

/** The ids of a page from its start. With sort keys, a far page also returns its end. */
export function idsFrom<D, T extends keyof D>(
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
