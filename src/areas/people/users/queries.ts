/** Queries for users. */
import { type SelectQueryBuilder, sql } from 'kysely';
import { countsToday, hasSecondFactor, isPrimaryProved, licensedTrial, planInForce } from '../../../access/index.ts';
import type { Database, DB } from '../../../db/index.ts';
import { columnNames } from '../../../fields/index.ts';
import { type Caller, found, type Page } from '../../../http/index.ts';
import { type Paging, paginate, paginateByKey } from '../../../lists/index.ts';
import { isBillable } from '../../instance/licenses/index.ts';
import { userFields } from './fields.ts';
import { exactness, isNamed, isNotBlocked, userSearch } from './filters.ts';
import { type UserBasicRow, type UserRow, userBasicColumns, userBasicJson } from './present.ts';

const columns = [
  ...userBasicColumns,
  'users.user_type',
  'users.commit_email',
  ...columnNames(userFields).map((name) => `users.${name}` as const),
] as const;

/** Whether the user has confirmed the primary address. */
const hasProvedEmail = isPrimaryProved.as('has_proved_email');
const namespaceId = sql<number | null>`(select namespaces.id from namespaces where namespaces.owner_id = users.id)`;
const personalProjects = sql<number>`(select count(*) from projects where projects.namespace_id = ${namespaceId})`;
const followers = sql<number>`(select count(*) from user_follows where followed_id = users.id)`;
const following = sql<number>`(select count(*) from user_follows where follower_id = users.id)`;
const creator = sql<UserBasicRow | null>`(
  select ${userBasicJson('creators')} from users creators where creators.id = users.created_by_id)`;

const isFollowedBy = (caller: Pick<Caller, 'id'>) =>
  sql<boolean>`exists (select from user_follows where followed_id = users.id and follower_id = ${caller.id})`;
const identities = sql<UserRow['identities']>`(
  select coalesce(jsonb_agg(jsonb_build_object('provider', provider, 'extern_uid', extern_uid, 'saml_provider_id', null) order by provider), '[]')
    from user_identities where user_identities.user_id = users.id)`;
const highestRole = sql<number>`(
  select coalesce(max(access_level), 0) from members where members.user_id = users.id and ${countsToday('members')})`;
const provisionedBy = sql<
  number | null
>`(select group_id from service_accounts where service_accounts.user_id = users.id)`;

/**
 * Users with all columns that responses need.
 * @param caller the user who will see them
 */
export const usersInFull = (db: Database, caller: Pick<Caller, 'id'>) =>
  db
    .selectFrom('users')
    .select(columns)
    .select([
      hasProvedEmail,
      namespaceId.as('namespace_id'),
      personalProjects.as('personal_projects'),
      creator.as('created_by'),
    ])
    .select([followers.as('followers'), following.as('following'), isBillable.as('using_license_seat')])
    .select([isFollowedBy(caller).as('is_followed'), identities.as('identities'), highestRole.as('highest_role')])
    .select([provisionedBy.as('provisioned_by_group_id'), planInForce.as('plan'), licensedTrial.isTrial.as('trial')])
    .select(hasSecondFactor.as('two_factor_enabled'));

/**
 * The user with an ID.
 * @throws ApiError 404
 */
export async function userInFull(db: Database, caller: Pick<Caller, 'id'>, id: number): Promise<UserRow> {
  return found('User', await usersInFull(db, caller).where('users.id', '=', id).executeTakeFirst());
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
 * Users that match a text exactly, and then users that contain it, in the order of their index: a common word may match
 * all users.
 */
function exactFirst<Row>(matching: SelectQueryBuilder<DB, 'users', Row>, search: string) {
  const byName = matching.orderBy('users.name').orderBy('users.id', 'desc');
  const exact = matching
    .where(isNamed(search))
    .orderBy(exactness(search))
    .orderBy('users.name')
    .orderBy('users.id', 'desc');
  return [exact, byName.where((q) => q.not(isNamed(search)))];
}

/**
 * One page of the users in `query`: newest first unless `input` requests another order; search results start with exact
 * matches.
 * @param query users with all filters except the search
 * @param forAdmin whether to search addresses that only administrators see, and to include blocked and banned users,
 * whom others find only by their full username
 */
export async function listUsers<Row>(
  db: Database,
  query: SelectQueryBuilder<DB, 'users', Row>,
  input: Paging & UserOrder & { search?: string; username?: string; pagination?: string },
  forAdmin: boolean,
): Promise<Page<Row>> {
  const { search = '', order_by = 'id', sort = 'desc' } = input;
  const listed = forAdmin || input.username !== undefined ? query : query.where(isNotBlocked);
  const matching = search === '' ? listed : listed.where(userSearch(search, forAdmin));
  if (input.pagination === 'keyset')
    return paginateByKey(db, matching, input, { columns: orderColumns, order_by, sort, id: orderColumns.id });
  const isRanked = search !== '' && input.order_by === undefined && input.sort === undefined;
  if (isRanked) return paginate(db, matching, input, { parts: exactFirst(matching, search) });
  return paginate(
    db,
    matching.orderBy(sql.ref(orderColumns[order_by]), sort).orderBy(sql.ref(orderColumns.id), sort),
    input,
  );
}

/**
 * The ID of the user in a path.
 * @throws ApiError 404
 */
export async function userIdNamed(db: Database, id_or_username: number | string): Promise<number> {
  const query = db.selectFrom('users').select('id');
  const named =
    typeof id_or_username === 'number'
      ? query.where('id', '=', id_or_username)
      : query.where('username', '=', id_or_username);
  return found('User', await named.executeTakeFirst()).id;
}

/**
 * The basic fields of the user with an ID.
 * @throws ApiError 404
 */
export const basicUser = async (db: Database, id: number): Promise<UserBasicRow> =>
  found('User', await db.selectFrom('users').select(userBasicColumns).where('id', '=', id).executeTakeFirst());
