/** Which users take a seat in a group, and through which memberships (docs/reference/billable_members.md). */
import { type RawBuilder, sql } from 'kysely';
import { countsToday, levels } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { containing } from '../../../http/index.ts';
import { isBillable } from '../../instance/licenses/index.ts';
import { namespaceFullName } from '../../people/namespaces/index.ts';
import { userBasicColumns } from '../../people/users/index.ts';

/** All groups in the tree of a group, and their projects. */
const groupsIn = (id: number) =>
  sql`(select inside.id from namespaces inside where inside.traversal_ids @> ${[id]}::bigint[])`;
const projectsIn = (id: number) =>
  sql`(select projects.id from projects where projects.namespace_id in ${groupsIn(id)})`;

/** Memberships in a group and below it: `user_id`, `access_level` and their group or project. */
const directIn = (id: number) => sql`
  select user_id, access_level, created_at, expires_at, group_id, project_id, member_role_id, case when project_id is null then 1 else 2 end as rank, members.id
    from members
   where (group_id in ${groupsIn(id)} or project_id in ${projectsIn(id)}) and ${countsToday('members')}`;

/** The memberships that come from invited groups. */
const invitedIn = (id: number) => sql`
  select granted.user_id, least(granted.access_level, link.access_level) as access_level, link.created_at, link.expires_at, link.group_id, link.project_id,
         null::bigint as member_role_id, case when link.project_id is null then 3 else 4 end as rank, link.id
    from group_links link join group_authorizations granted on granted.group_id = link.invited_group_id
   where (link.group_id in ${groupsIn(id)} or link.project_id in ${projectsIn(id)}) and ${countsToday('link')} and ${countsToday('granted')}`;

/** All memberships, direct and through invited groups. */
const seatsIn = (id: number) => sql`(${directIn(id)} union all ${invitedIn(id)})`;

export const membershipTypes = ['group_member', 'project_member', 'group_invite', 'project_invite'] as const;

const of = <T>(id: number, what: RawBuilder<unknown>) =>
  sql<T>`(select ${what} from ${seatsIn(id)} seat where seat.user_id = users.id)`;

export const orders = {
  access_level: (id: number) => of<number>(id, sql`max(seat.access_level)`),
  joined: (id: number) => of<string>(id, sql`max(seat.created_at)`),
  name: () => sql<string>`users.name`,
  last_activity_on: () => sql<string>`users.last_activity_on`,
  sign_in: () => sql<string>`users.last_sign_in_at`,
} as const;

/** Whether a row of `users` is the only owner of a group. */
const isLastOwner = (id: number) => sql<boolean>`(
  exists (select from members own where own.group_id = ${id} and own.user_id = users.id and own.access_level = ${levels.owner} and ${countsToday('own')})
  and not exists (select from members other where other.group_id = ${id} and other.user_id <> users.id and other.access_level = ${levels.owner} and ${countsToday('other')}))`;

/** The users who take a seat in a top-level group, without order. */
export const billableUsers = (db: Database, id: number, search: string | undefined) =>
  db
    .selectFrom('users')
    .select([...userBasicColumns, 'users.last_activity_on', 'users.created_at', 'users.last_sign_in_at'])
    .select([of<number>(id, sql`min(seat.rank)`).as('rank'), isLastOwner(id).as('is_last_owner')])
    .where(sql<boolean>`users.id in (select seat.user_id from ${seatsIn(id)} seat)`)
    .where(isBillable)
    .$if(search !== undefined && search !== '', (q) =>
      q.where(
        sql<boolean>`(users.name ilike ${containing(search!)} or users.username::text ilike ${containing(search!)})`,
      ),
    );

/** The memberships of a user in a group and below it, groups first. */
export const membershipsIn = (db: Database, id: number, user_id: number, kind: 'direct' | 'invited') =>
  db
    .selectFrom(
      sql<{
        id: number;
        access_level: number;
        created_at: string;
        expires_at: string | null;
        group_id: number | null;
        project_id: number | null;
        member_role_id: number | null;
        rank: number;
      }>`(select * from (${kind === 'direct' ? directIn(id) : invitedIn(id)}) every where every.user_id = ${user_id})`.as(
        'seat',
      ),
    )
    .leftJoin('projects', 'projects.id', 'seat.project_id')
    .innerJoin('namespaces', (join) =>
      join.on(sql`namespaces.id`, '=', sql`coalesce(seat.group_id, projects.namespace_id)`),
    )
    .leftJoin('member_roles', 'member_roles.id', 'seat.member_role_id')
    .select(['seat.id', 'seat.access_level', 'seat.created_at', 'seat.expires_at', 'seat.group_id', 'seat.project_id'])
    .select([
      sql<number>`coalesce(seat.group_id, seat.project_id)`.as('source_id'),
      sql<string>`coalesce(projects.full_path, namespaces.full_path)::text`.as('full_path'),
      sql<string>`concat_ws(' / ', ${namespaceFullName()}, projects.name)`.as('full_name'),
      'member_roles.id as role_id',
      'member_roles.name as role_name',
    ])
    .orderBy('seat.rank')
    .orderBy('seat.id');
