/** Queries for personal access tokens. */
import { type SqlBool, sql } from 'kysely';
import { Type } from 'typebox';
import { countsToday } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  ApiError,
  type Caller,
  containing,
  DateOnly,
  filtersOn,
  Id,
  Timestamp,
  unauthorized,
} from '../../../http/index.ts';

const isActive = sql<boolean>`(not revoked and ${countsToday()})`;

const columns = [
  'id',
  'name',
  'revoked',
  'created_at',
  'description',
  'scopes',
  'user_id',
  'last_used_at',
  'expires_at',
] as const;

/** Tokens in the columns of lists. */
export const tokensIn = (db: Database) =>
  db.selectFrom('personal_access_tokens').select(columns).select(isActive.as('active'));

/** A new token with its value. */
export async function shownOnce(db: Database, { id, value }: { id: number; value: string }) {
  const token = await tokensIn(db).where('id', '=', id).executeTakeFirstOrThrow();
  return { ...token, token: value };
}

/** Query parameters of lists of tokens. */
export const tokenFilters = filtersOn('personal_access_tokens', (by) => ({
  user_id: by(Id, (q, value) => q('user_id', '=', value)),
  state: by(Type.Enum(['active', 'inactive']), (_q, value) =>
    value === 'active' ? isActive : sql<SqlBool>`not ${isActive}`,
  ),
  revoked: by(Type.Boolean(), (q, value) => q('revoked', '=', value)),
  search: by(Type.String(), (q, value) => q('name', 'ilike', containing(value))),
  created_after: by(Timestamp, (q, value) => q('created_at', '>=', value)),
  created_before: by(Timestamp, (q, value) => q('created_at', '<=', value)),
  last_used_after: by(Timestamp, (q, value) => q('last_used_at', '>=', value)),
  last_used_before: by(Timestamp, (q, value) => q('last_used_at', '<=', value)),
  expires_after: by(DateOnly, (q, value) => q('expires_at', '>=', value)),
  expires_before: by(DateOnly, (q, value) => q('expires_at', '<=', value)),
}));

const orders = {
  created_asc: sql`created_at asc`,
  created_desc: sql`created_at desc`,
  expires_asc: sql`expires_at asc nulls last`,
  expires_desc: sql`expires_at desc nulls last`,
  last_used_asc: sql`last_used_at asc nulls last`,
  last_used_desc: sql`last_used_at desc nulls last`,
  name_asc: sql`lower(name) asc`,
  name_desc: sql`lower(name) desc`,
} as const;

/** The parameter that orders lists of tokens. */
export const TokenOrder = Type.Enum(Object.keys(orders) as (keyof typeof orders)[]);

/** The order of a list; oldest first by default. */
export const tokenOrder = (sort: keyof typeof orders | undefined) =>
  sort === undefined ? sql`id` : sql`${orders[sort]}, id desc`;

/**
 * A token in full, for its owner and administrators. Only administrators see impersonation tokens.
 * @throws ApiError 404 for administrators, 401 for others, to whom its existence is not revealed
 */
export async function tokenFor(db: Database, caller: Caller, id: number) {
  const token = await tokensIn(db).select(['last_used_ips', 'impersonation']).where('id', '=', id).executeTakeFirst();
  if (token && (caller.admin || (token.user_id === caller.id && !token.impersonation))) return token;
  throw caller.admin ? new ApiError(404, { message: '404 Not Found' }) : unauthorized();
}
