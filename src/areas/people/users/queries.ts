/** Queries for users. */
import { type SelectQueryBuilder, sql } from 'kysely';
import { isPrimaryProved } from '../../../access/index.ts';
import type { Database, DB } from '../../../db/index.ts';
import { found, type Page, type Paging, paginate, paginateByKey } from '../../../http/index.ts';
import { isBillable } from '../../instance/licenses/index.ts';
import { exactness, userSearch } from './filters.ts';
import { type UserBasicRow, type UserRow, userBasicColumns, userBasicJson } from './present.ts';

const columns = [
  ...userBasicColumns,
  ...(['users.user_type', 'users.created_at', 'users.bio', 'users.location', 'users.linkedin', 'users.twitter'] as const),
  ...(['users.discord', 'users.github', 'users.website_url', 'users.organization', 'users.job_title', 'users.pronouns'] as const),
  ...(['users.confirmed_at', 'users.last_activity_on', 'users.theme_id', 'users.color_scheme_id'] as const),
  ...(['users.projects_limit', 'users.email', 'users.commit_email', 'users.can_create_group', 'users.external'] as const),
  ...(['users.private_profile', 'users.admin', 'users.note'] as const),
] as const;

/** Whether the user has confirmed the primary address. */
const hasProvedEmail = isPrimaryProved.as('has_proved_email');
const namespaceId = sql<number | null>`(select namespaces.id from namespaces where namespaces.owner_id = users.id)`;
const personalProjects = sql<number>`(select count(*) from projects where projects.namespace_id = ${namespaceId})`;
const followers = sql<number>`(select count(*) from user_follows where followed_id = users.id)`;
const following = sql<number>`(select count(*) from user_follows where follower_id = users.id)`;
const creator = sql<UserBasicRow | null>`(
  select ${userBasicJson('creators')} from users creators where creators.id = users.created_by_id)`;

/** Users with all columns that responses need. */
export const usersInFull = (db: Database) =>
  db
    .selectFrom('users')
    .select(columns)
    .select([hasProvedEmail, namespaceId.as('namespace_id'), personalProjects.as('personal_projects'), creator.as('created_by')])
    .select([followers.as('followers'), following.as('following'), isBillable.as('using_license_seat')]);

/** Whether a user follows another one. */
export async function isFollowed(db: Database, follower_id: number, followed_id: number): Promise<boolean> {
  const query = db.selectFrom('user_follows').select('followed_id').where('followed_id', '=', followed_id);
  return (await query.where('follower_id', '=', follower_id).executeTakeFirst()) !== undefined;
}

/**
 * The user with an ID.
 * @throws ApiError 404
 */
export async function userInFull(db: Database, id: number): Promise<UserRow> {
  return found('User', await usersInFull(db).where('users.id', '=', id).executeTakeFirst());
}

export interface UserOrder {
  order_by?: 'id' | 'name' | 'username' | 'created_at' | 'updated_at';
  sort?: 'asc' | 'desc';
}

const orderColumns = {
  id: 'users.id',
  name: 'users.name',
  username: 'users.username',
  created_at: 'users.created_at',
  updated_at: 'users.updated_at',
} as const;

/**
 * One page of the users in `query`: newest first unless `input` says otherwise; search results start with exact matches.
 * @param query users with all filters except the search
 * @param withPrivate whether to search addresses that only administrators see
 */
export async function listUsers<Row>(
  db: Database,
  query: SelectQueryBuilder<DB, 'users', Row>,
  input: Paging & UserOrder & { search?: string; pagination?: string; cursor?: string },
  withPrivate: boolean,
): Promise<Page<Row>> {
  const { search = '', order_by = 'id', sort = 'desc' } = input;
  const matching = search === '' ? query : query.where(userSearch(search, withPrivate));
  if (input.pagination === 'keyset')
    return paginateByKey(matching, input, { columns: orderColumns, order_by, sort, id: orderColumns.id });
  const isRanked = search !== '' && input.order_by === undefined && input.sort === undefined;
  const ordered = isRanked
    ? matching.orderBy(exactness(search)).orderBy(sql.ref(orderColumns.name))
    : matching.orderBy(sql.ref(orderColumns[order_by]), sort);
  return paginate(db, ordered.orderBy(sql.ref(orderColumns.id), sort), input);
}

/**
 * The ID of the user that a path names.
 * @throws ApiError 404
 */
export async function userIdNamed(db: Database, id_or_username: number | string): Promise<number> {
  const query = db.selectFrom('users').select('id');
  const named =
    typeof id_or_username === 'number' ? query.where('id', '=', id_or_username) : query.where('username', '=', id_or_username);
  return found('User', await named.executeTakeFirst()).id;
}

/**
 * The basic fields of the user with an ID.
 * @throws ApiError 404
 */
export const basicUser = async (db: Database, id: number): Promise<UserBasicRow> =>
  found('User', await db.selectFrom('users').select(userBasicColumns).where('id', '=', id).executeTakeFirst());
