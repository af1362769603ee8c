/** Queries for direct and effective members of groups and projects. */
import { type RawBuilder, sql } from 'kysely';
import {
  countsToday,
  groupFor,
  isLastingOwner,
  levels,
  lockPlace,
  projectFor,
  type Subtree,
} from '../../../access/index.ts';
import { type Database, isAmong, ofAnyLength } from '../../../db/index.ts';
import { containing, found } from '../../../http/index.ts';
import { type UserBasicRow, userBasicColumns } from '../../people/users/index.ts';
import type { Actor, Inherited, Source } from './rules.ts';

interface SourceRow {
  namespace_id: number;
  traversal_ids: number[];
  owner_id: number | null;
}

/** @throws ApiError 404 if the group or project no longer exists */
export async function sourceOf(db: Database, subtree: Subtree): Promise<Source> {
  if ('group_id' in subtree) {
    const query = db
      .selectFrom('namespaces')
      .select('traversal_ids')
      .where('id', '=', subtree.group_id)
      .where('kind', '=', 'group');
    const { traversal_ids } = found('Group', await query.executeTakeFirst());
    return {
      kind: 'group',
      id: subtree.group_id,
      namespace_id: subtree.group_id,
      above: traversal_ids.slice(0, -1),
      personal_owner_id: null,
    };
  }
  const row: SourceRow | undefined = await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(['projects.namespace_id', 'namespaces.traversal_ids', 'namespaces.owner_id'])
    .where('projects.id', '=', subtree.project_id)
    .executeTakeFirst();
  const { namespace_id, traversal_ids, owner_id } = found('Project', row);
  const above = owner_id === null ? traversal_ids : [];
  return { kind: 'project', id: subtree.project_id, namespace_id, above, personal_owner_id: owner_id };
}

/**
 * The source for a change. The tree is locked first, so that its members do not change in the meantime; for groups also the trees that they are invited to.
 * @param tx the transaction of the change
 */
export async function lockedSource(tx: Database, subtree: Subtree): Promise<Source> {
  await lockPlace(tx, subtree);
  return sourceOf(tx, subtree);
}

/**
 * A user with their current level and permissions in a source, for an action that they started earlier; undefined for
 * users who are not active.
 */
export async function actorNow(
  db: Database,
  { kind, id }: Pick<Source, 'kind' | 'id'>,
  user_id: number,
): Promise<Actor | undefined> {
  const users = db.selectFrom('users').select(['id', 'admin']).where('id', '=', user_id).where('state', '=', 'active');
  const user = await users.executeTakeFirst();
  const place = user && (await (kind === 'group' ? groupFor : projectFor)(db, user, String(id)));
  return user && place && { id: user.id, access_level: place.access_level, permissions: place.permissions };
}

/** A predicate on rows of `users`: the user can be added as a member. Bot users of access tokens are members where their token belongs, and nowhere else. */
export const isInvitable = sql<boolean>`users.user_type in ('human', 'service_account')`;

/**
 * A predicate: the row belongs directly to the source.
 * @param table the table, needed when several in the statement have such columns
 */
export const isDirect = ({ kind, id }: Pick<Source, 'kind' | 'id'>, table?: string) =>
  sql<boolean>`${sql.ref(`${table ? `${table}.` : ''}${kind}_id`)} = ${id}`;

/** Direct memberships in force, one row per user, in the columns of `Membership`. */
function directMemberships(source: Source): RawBuilder<Membership> {
  const rows = sql`
    select user_id, access_level, expires_at, created_at, created_by_id, member_role_id, source from members where ${isDirect(source)} and ${countsToday()}`;
  if (source.personal_owner_id === null) return sql`(${rows})`;
  return sql`(${rows} and user_id <> ${source.personal_owner_id}
    union all select ${source.personal_owner_id}::bigint, ${sql.lit(levels.owner)}, null, created_at, null, null, null from projects where id = ${source.id})`;
}

/**
 * Effective memberships, including ancestors and invited groups: for each user the membership that gives their highest level for the longest time.
 * For invited groups this is the membership in the invited group.
 */
function effectiveMemberships(source: Source): RawBuilder<Membership> {
  const authorizations = sql.table(`${source.kind}_authorizations`);
  // Only the owner of the namespace has a level without a membership, from the creation of the project.
  const since = source.kind === 'project' ? sql`(select created_at from projects where id = ${source.id})` : sql`null`;
  const groups = source.kind === 'group' ? [...source.above, source.id] : source.above;
  const inGroup = (table: string) => sql`${sql.ref(`${table}.group_id`)} = any(${ofAnyLength(groups, 'bigint[]')})`;
  const isHere = (table: string) =>
    source.kind === 'project'
      ? sql`(${inGroup(table)} or ${sql.ref(`${table}.project_id`)} = ${source.id})`
      : inGroup(table);
  // One lookup per place, because PostgreSQL would read all memberships of a user for "one of these groups or the
  // project".
  const places = [inGroup('members'), ...(source.kind === 'project' ? [sql`members.project_id = ${source.id}`] : [])];
  const own = places.map(
    (isPlace) => sql`
      select 0 as way, members.id, members.created_at, members.created_by_id, members.access_level, members.expires_at, members.member_role_id, members.source from members
       where members.user_id = granted.user_id and ${isPlace}`,
  );
  // As columns instead of a join: they are read only for the members shown, not for those that a page skips.
  const given = (column: 'created_at' | 'created_by_id' | 'source') => sql`(
    select ${sql.ref(`ways.${column}`)} from (
      ${sql.join(own, sql` union all `)}
      union all
      select 1, members.id, members.created_at, members.created_by_id, least(members.access_level, group_links.access_level),
             least(members.expires_at, group_links.expires_at), null, null
        from group_links join namespaces invited on invited.id = group_links.invited_group_id
        join members on members.group_id = any(invited.traversal_ids)
       where members.user_id = granted.user_id and ${isHere('group_links')}) ways
     where ways.access_level = granted.access_level and ways.expires_at is not distinct from granted.expires_at
       and ways.member_role_id is not distinct from granted.member_role_id
     order by way, id limit 1)`;
  return sql`(
    select granted.user_id, granted.access_level, granted.expires_at, coalesce(${given('created_at')}, ${since}) as created_at,
           ${given('created_by_id')} as created_by_id, granted.member_role_id, ${given('source')} as source
      from (select distinct on (user_id) user_id, access_level, expires_at, member_role_id from ${authorizations}
             where ${isDirect(source)} and ${countsToday()} order by user_id, access_level desc, expires_at desc, member_role_id) granted)`;
}

interface Membership {
  user_id: number;
  access_level: number;
  expires_at: string | null;
  created_at: string;
  created_by_id: number | null;
  member_role_id: number | null;
  source: string | null;
}

/** A row of `membersOf`: columns of the user and of the membership. */
export interface MemberRow extends UserBasicRow {
  access_level: number;
  expires_at: string | null;
  membership_created_at: string;
  created_by_id: number | null;
  member_role_id: number | null;
  source: string | null;
}

/**
 * The members of a source, ordered by user ID.
 * @param reach `direct` for direct members, `all` also for inherited and invited ones
 */
export const membersOf = (db: Database, source: Source, reach: 'direct' | 'all') =>
  db
    .selectFrom(
      (reach === 'direct' ? directMemberships(source) : effectiveMemberships(source)).as<'membership'>('membership'),
    )
    .innerJoin('users', 'users.id', 'membership.user_id')
    .select(userBasicColumns)
    .select([
      'membership.access_level',
      'membership.expires_at',
      'membership.created_at as membership_created_at',
      'membership.created_by_id',
      'membership.member_role_id',
      'membership.source',
    ])
    .orderBy('membership.user_id');

export interface MemberFilters {
  query?: string | undefined;
  user_ids?: number[] | undefined;
  skip_users?: number[] | undefined;
}

/** Applies the filters of the lists. */
export function narrowed(query: ReturnType<typeof membersOf>, { query: text, user_ids, skip_users }: MemberFilters) {
  let rows = query;
  if (text)
    rows = rows.where((q) =>
      q.or([
        q('users.name', 'ilike', containing(text)),
        q(sql<string>`users.username::text`, 'ilike', containing(text)),
        q('users.public_email', '=', text),
      ]),
    );
  if (user_ids) rows = rows.where(isAmong('users.id', user_ids, 'bigint[]'));
  if (skip_users) rows = rows.where(sql<boolean>`users.id <> all(${skip_users}::bigint[])`);
  return rows;
}

/** Users by their IDs. */
export async function usersById(db: Database, ids: readonly number[]): Promise<Map<number, UserBasicRow>> {
  if (ids.length === 0) return new Map();
  const users = await db
    .selectFrom('users')
    .select(userBasicColumns)
    .where(isAmong('id', [...new Set(ids)], 'bigint[]'))
    .execute();
  return new Map(users.map((user) => [user.id, user]));
}

/** Whether a group has a direct or inherited owner who will stay, not counting the direct memberships of `users`. */
export async function hasOtherOwner(tx: Database, { id, above }: Source, users: readonly number[]): Promise<boolean> {
  const { rows } = await sql`
    select from members join users on users.id = members.user_id
     where ${isLastingOwner}
       and (group_id = any(${ofAnyLength(above, 'bigint[]')}) or (group_id = ${id} and user_id <> all(${users}::bigint[])))
     limit 1`.execute(tx);
  return rows.length > 0;
}

/** The highest inherited level of each user, with the name of the ancestor group. */
export async function inherited(
  tx: Database,
  source: Source,
  users: readonly number[],
): Promise<Map<number, Inherited>> {
  const { rows } = await sql<Inherited & { user_id: number }>`
    select distinct on (user_id) user_id, access_level, namespaces.name as group_name
      from members join namespaces on namespaces.id = members.group_id
     where members.group_id = any(${ofAnyLength(source.above, 'bigint[]')}) and user_id = any(${ofAnyLength(users, 'bigint[]')}) and access_level > ${levels.minimal} and ${countsToday()}
     order by user_id, access_level desc, members.id`.execute(tx);
  return new Map(rows.map(({ user_id, access_level, group_name }) => [user_id, { access_level, group_name }]));
}

/** Whether an ancestor group of a project locks memberships. */
export async function isLocked(db: Database, source: Source): Promise<boolean> {
  if (source.kind === 'group' || source.above.length === 0) return false;
  const row = await db
    .selectFrom('namespaces')
    .select('id')
    .where('id', 'in', source.above)
    .where('membership_lock', '=', true)
    .executeTakeFirst();
  return row !== undefined;
}

/** Users by ID or username, and the values that match no user. */
export async function usersByIdOrName(
  db: Database,
  { ids, usernames }: { ids?: number[] | undefined; usernames?: string[] | undefined },
) {
  const users = await db
    .selectFrom('users')
    .select(['id', 'username'])
    .where(ids ? isAmong('id', ids, 'bigint[]') : isAmong('username', usernames ?? [], 'citext[]'))
    .where(isInvitable)
    .orderBy('id')
    .execute();
  const known = new Set(users.flatMap(({ id, username }) => (ids ? [String(id)] : [username.toLowerCase()])));
  const unknown = (ids?.map(String) ?? usernames ?? []).filter((name) => !known.has(name.toLowerCase()));
  return { users, unknown };
}

/** Where members of a place come from: the group above it, or true for an invited group. Direct members are left out. */
export async function originsOf(
  db: Database,
  subtree: Subtree,
  user_ids: readonly number[],
): Promise<Map<number, { full_path: string } | 'invited'>> {
  const source = await sourceOf(db, subtree);
  const ids = ofAnyLength(user_ids, 'bigint[]');
  const { rows } = await sql<{ user_id: number; full_path: string | null; is_direct: boolean }>`
    select asked.user_id, above.full_path, exists (
             select from members where members.user_id = asked.user_id and ${isDirect(source, 'members')} and ${countsToday('members')}) as is_direct
      from unnest(${ids}) asked(user_id)
      left join lateral (
        select namespaces.full_path::text from members join namespaces on namespaces.id = members.group_id
         where members.user_id = asked.user_id and members.group_id = any(${ofAnyLength(source.above, 'bigint[]')}) and ${countsToday('members')}
         order by members.access_level desc, members.group_id limit 1) above on true`.execute(db);
  const others = rows.filter(({ is_direct, user_id }) => !is_direct && user_id !== source.personal_owner_id);
  return new Map(
    others.map(({ user_id, full_path }) => [user_id, full_path === null ? ('invited' as const) : { full_path }]),
  );
}
