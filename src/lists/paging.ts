/** The parameters of lists, and the requested page. */
import { type Static, type TObject, Type } from 'typebox';
import { ApiError, badParams, furthest, optional } from '../http/index.ts';
import { thresholds } from './thresholds.ts';

const maximumPerPage = 100;
const defaultPerPage = 20;

/** The parameters of lists without cursors, because they are in memory or consist of several. */
export const numberedPaging = {
  page: Type.Integer({ default: 1, description: 'Number of the page' }),
  per_page: Type.Integer({ default: defaultPerPage, description: 'Items per page, at most 100' }),
};

/** The parameters of other lists. */
export const paging = {
  ...numberedPaging,
  cursor: optional(Type.String({ description: 'Where the previous page ended, from its `next` link' })),
};
export type Paging = Static<TObject<typeof paging>> & { pagination?: 'legacy' | 'keyset' };

/** The same for lists from git, which refuse values that other lists correct. */
export const gitPaging = {
  page: Type.Integer({ default: 1, minimum: 1 }),
  per_page: Type.Integer({ default: defaultPerPage, minimum: 1 }),
};

/** The parameters of a list that supports keyset pagination, besides its own `order_by` and `sort`. */
export const keysetPaging = {
  ...paging,
  pagination: Type.Optional(
    Type.Enum(['legacy', 'keyset'], { description: '`keyset` for long lists; follow the links' }),
  ),
};

/**
 * The requested page. Clients written for v3 send `page=0` for the first one, and at most 100 rows are on a page.
 * @throws ApiError 400 for `per_page=0`
 */
export function pageAsked({ page, per_page }: Pick<Paging, 'page' | 'per_page'>): {
  page: number;
  per_page: number;
  offset: number;
} {
  if (per_page === 0) throw badParams('per_page has a value not allowed');
  const size = per_page < 0 ? defaultPerPage : Math.min(per_page, maximumPerPage);
  const number = Math.max(page, 1);
  return { page: number, per_page: size, offset: Math.min((number - 1) * size, Number.MAX_SAFE_INTEGER) };
}

/** Whether a list is read by keyset: its pages have no numbers and no totals, only a link to the next one. */
export const isByKey = ({ pagination }: Paging): boolean => pagination === 'keyset';

/** 405 for `pagination=keyset` on a list, or in an order, that does not support it. */
export function keysetUnavailable(): ApiError {
  const text = 'Keyset pagination is not yet available for this type of request';
  return new ApiError(405, { message: text, error: text });
}

/** The start of a page. */
export interface Start {
  page: number;
  per_page: number;
  /** How many rows precede it: in the list or, with a cursor, after the cursor. */
  offset: number;
  cursor?: string;
  /** The name of the list, if its far pages are read by number. */
  list?: string;
  /** Whether the link to the next page records where this one ends. */
  isFar: boolean;
  /** Whether this is a page by number that exists only in lists with a total; it is then empty. */
  isBeyond: boolean;
}

/** The start of the requested page of a list that has cursors. */
export function startOf(input: Paging): Start {
  const { page, per_page, offset } = pageAsked(input);
  if (input.cursor) return { page, per_page, offset: 0, cursor: input.cursor, isFar: true, isBeyond: false };
  if (isByKey(input)) return { page: 1, per_page, offset: 0, isFar: true, isBeyond: false };
  return { page, per_page, offset, isFar: offset + per_page >= thresholds.far, isBeyond: offset + per_page > furthest };
}
