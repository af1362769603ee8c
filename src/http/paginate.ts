/** Offset and keyset pagination (conventions.md sections 8 and 9). */
import { type SelectQueryBuilder, sql } from 'kysely';
import { type Static, type TObject, Type } from 'typebox';
import type { Database, DB } from '../db/index.ts';
import { badParams } from './errors.ts';

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
  per_page: Type.Integer({ default: defaultPerPage, description: 'Rows of a page, at most 100' }),
};
export type Paging = Static<TObject<typeof paging>>;

/** The same for lists that come from git, which refuse what the others bend. */
export const gitPaging = {
  page: Type.Integer({ default: 1, minimum: 1 }),
  per_page: Type.Integer({ default: defaultPerPage, minimum: 1 }),
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
export async function paginate<T extends keyof DB, Row>(
  db: Database,
  query: SelectQueryBuilder<DB, T, Row>,
  input: Paging,
): Promise<Page<Row>> {
  const { page, per_page, offset } = pageAsked(input);
  const rows = await query
    .limit(per_page + 1)
    .offset(offset)
    .execute();
  const has_more = rows.length > per_page;
  const items = has_more ? rows.slice(0, per_page) : rows;
  const total = has_more || (items.length === 0 && offset > 0) ? await countOf(db, query) : offset + items.length;
  return { items, page, per_page, has_more, ...(total <= maximumTotal ? { total } : {}) };
}

async function countOf<T extends keyof DB, Row>(db: Database, query: SelectQueryBuilder<DB, T, Row>): Promise<number> {
  const counted = query
    .clearSelect()
    .clearOrderBy()
    .select(sql<number>`1`.as('one'))
    .limit(maximumTotal + 1);
  const { rows } = await sql<{ total: number }>`select count(*) as total from (${counted}) counted`.execute(db);
  return rows[0]!.total;
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
