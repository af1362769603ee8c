/** Query parameters of the list of users (docs/reference/users.md#parameters). */
import { type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import { Type } from 'typebox';
import { countsToday, hasSecondFactor, isUsableAccount } from '../../../access/index.ts';
import type { DB } from '../../../db/index.ts';
import { containing, filtersOn, Timestamp } from '../../../http/index.ts';
import type { Identity } from './identity_actions.ts';

type Users = ExpressionBuilder<DB, 'users'>;

/** These filters only apply when they are true; `false` has no effect. */
const whenTrue = (matches: (q: Users) => ReturnType<Users>) => (q: Users, value: boolean) =>
  value ? matches(q) : q.lit(true);

const flag = Type.Boolean();

/** Filters for all callers. */
export const userFilters = filtersOn('users', (by) => ({
  username: by(Type.String(), (q, value) => q('users.username', '=', value)),
  active: by(
    flag,
    whenTrue((q) => q.and([q('users.state', '=', 'active'), isUsableAccount])),
  ),
  blocked: by(
    flag,
    whenTrue((q) => q('users.state', '=', 'blocked')),
  ),
  external: by(
    flag,
    whenTrue((q) => q('users.external', '=', true)),
  ),
  humans: by(
    flag,
    whenTrue((q) => q('users.user_type', '=', 'human')),
  ),
  exclude_active: by(
    flag,
    whenTrue((q) => q('users.state', '<>', 'active')),
  ),
  exclude_external: by(
    flag,
    whenTrue((q) => q('users.external', '=', false)),
  ),
  exclude_humans: by(
    flag,
    whenTrue((q) => q('users.user_type', '<>', 'human')),
  ),
  exclude_internal: by(
    flag,
    whenTrue((q) => q.and([isUsableAccount])),
  ),
  without_project_bots: by(
    flag,
    whenTrue((q) => q('users.user_type', '<>', 'project_bot')),
  ),
}));

/** A predicate on rows of `users`: the user with an identity. */
export const hasIdentity = ({ provider, extern_uid }: Identity) =>
  sql<boolean>`users.id = (select user_id from user_identities where provider = ${provider} and extern_uid = ${extern_uid})`;

/** Filters for administrators, ignored for others. */
export const adminFilters = filtersOn('users', (by) => ({
  created_after: by(Timestamp, (q, value) => q('users.created_at', '>=', value)),
  created_before: by(Timestamp, (q, value) => q('users.created_at', '<=', value)),
  admins: by(
    flag,
    whenTrue((q) => q('users.admin', '=', true)),
  ),
  two_factor: by(Type.Enum(['enabled', 'disabled']), (q, value) =>
    value === 'enabled' ? q.and([hasSecondFactor]) : q.not(q.and([hasSecondFactor])),
  ),
  without_projects: by(
    flag,
    whenTrue((q) =>
      q.not(
        q.exists(
          q
            .selectFrom('project_authorizations')
            .select('project_authorizations.user_id')
            .whereRef('project_authorizations.user_id', '=', 'users.id')
            .where(countsToday('project_authorizations')),
        ),
      ),
    ),
  ),
}));

/** A predicate on rows of `users`: they are neither blocked nor banned. */
export const isNotBlocked = sql<SqlBool>`users.state not in ('blocked', 'banned')`;

/**
 * A search for users by a part of their names or by their full address. Each alternative has an index; without one of them, the search would read all rows.
 * @param withPrivate whether to search addresses that only administrators see
 */
export const userSearch = (text: string, withPrivate: boolean) => sql<SqlBool>`(
  users.name ilike ${containing(text)} or users.username::text ilike ${containing(text)} or (users.public_email = ${text} and users.public_email <> '')
  ${withPrivate ? sql`or users.id = any (array(select user_id from emails where email = ${text} and (is_primary or confirmed_at is not null)))` : sql``})`;

/**
 * A predicate on rows of `users`: the address, the username or the name equals the text. Each comparison has an index.
 */
export const isNamed = (text: string) =>
  sql<SqlBool>`((users.public_email = ${text} and users.public_email <> '') or users.username = ${text} or lower(users.name) = lower(${text}))`;

/** Ranks the users that match a text exactly. */
export const exactness = (text: string) =>
  sql<number>`case when users.public_email = ${text} then 0 when users.username = ${text} then 1 else 2 end`;
