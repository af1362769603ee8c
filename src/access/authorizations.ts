/**
 * Keeps `group_authorizations` and `project_authorizations` consistent with memberships, shares with groups and the tree of groups. Every change of these
 * calls `refreshAuthorizations` in its own transaction, after its rows are written. What rules grant to users who are no members any more ends with it.
 *
 * A group that is invited to a group or project brings its members and those of its ancestors, with their level there but at most that of the link.
 * It does not bring the members of groups that it has invited itself: shares are not passed on. Neither are custom roles, which belong to their tree.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type DB, ofAnyLength } from '../db/index.ts';
import { endGrantsOfUsers } from './grants.ts';
import { levels } from './levels.ts';
import { lockTrees } from './tree_locks.ts';

/** A group with everything below it, or one project. */
export type Subtree = { group_id: number } | { project_id: number };

/** The subtree of a row that names either a group or a project. */
export const subtreeOf = ({ group_id, project_id }: { group_id: number | null; project_id: number | null }): Subtree =>
  group_id === null ? { project_id: project_id! } : { group_id };

/**
 * Selects from the rows (user_id, target, access_level, ends, member_role_id) in `grants` the effective ones: per level and role the one that lasts longest; without
 * a role only if it outlasts every higher level. A higher level does not include the permissions of a role, so rows with a role stay.
 */
const decisive = (grants: RawBuilder<unknown>, target: RawBuilder<unknown>) => sql`
  select user_id, ${target}, access_level, nullif(ends, 'infinity') as expires_at, member_role_id
    from (select *, max(ends) over (partition by user_id, ${target} order by access_level desc
                                    groups between unbounded preceding and 1 preceding) as higher_ends
            from (select user_id, ${target}, access_level, member_role_id, max(ends) as ends
                    from (${grants}) granted where ends > current_date
                   group by user_id, ${target}, access_level, member_role_id) longest) compared
   where member_role_id is not null or higher_ends is null or ends > higher_ends`;

const ends = sql`coalesce(members.expires_at, 'infinity'::date)`;
/** Minimal access gives access to the page of the group and to nothing inside it. */
const isInherited = sql`members.access_level > ${sql.lit(levels.minimal)}`;
const of = (users: readonly number[] | undefined, column: string) =>
  users === undefined ? sql`true` : sql`${sql.ref(column)} = any(${ofAnyLength(users, 'bigint[]')})`;

/** What a link gives to a member of the invited group: at most its level, and at most until its end. */
const linkedLevel = sql`least(members.access_level, group_links.access_level)`;
const linkedEnds = sql`least(${ends}, coalesce(group_links.expires_at, 'infinity'::date))`;
const noRole = sql`null::bigint`;
const invitedMembers = sql`
  join namespaces invited on invited.id = group_links.invited_group_id
  join members on members.group_id = any(invited.traversal_ids)`;

async function refreshGroups(
  tx: Kysely<DB>,
  group_ids: readonly number[],
  users: readonly number[] | undefined,
): Promise<void> {
  const inside = sql`namespaces.traversal_ids && ${group_ids}::bigint[]`;
  await sql`
    delete from group_authorizations
     where group_id in (select id from namespaces where ${inside}) and ${of(users, 'user_id')}`.execute(tx);
  const grants = sql`
    select members.user_id, namespaces.id as group_id, members.access_level, ${ends} as ends, members.member_role_id
      from namespaces join members on members.group_id = any(namespaces.traversal_ids)
     where namespaces.kind = 'group' and ${inside} and ${of(users, 'members.user_id')}
       and (members.group_id = namespaces.id or ${isInherited})
    union all
    select members.user_id, namespaces.id, ${linkedLevel}, ${linkedEnds}, ${noRole}
      from namespaces join group_links on group_links.group_id = any(namespaces.traversal_ids) ${invitedMembers}
     where namespaces.kind = 'group' and ${inside} and ${isInherited} and ${of(users, 'members.user_id')}`;
  await sql`
    insert into group_authorizations (user_id, group_id, access_level, expires_at, member_role_id)
    ${decisive(grants, sql`group_id`)}`.execute(tx);
}

/** @param inside a predicate on rows of `projects` joined with their `namespaces` */
async function refreshProjects(
  tx: Kysely<DB>,
  inside: RawBuilder<unknown>,
  users: readonly number[] | undefined,
): Promise<void> {
  const targets = sql`projects join namespaces on namespaces.id = projects.namespace_id`;
  await sql`
    delete from project_authorizations
     where project_id in (select projects.id from ${targets} where ${inside}) and ${of(users, 'user_id')}`.execute(tx);
  const grants = sql`
    select members.user_id, projects.id as project_id, members.access_level, ${ends} as ends, members.member_role_id
      from ${targets} join members on members.group_id = any(namespaces.traversal_ids)
     where ${inside} and ${isInherited} and ${of(users, 'members.user_id')}
    union all
    select members.user_id, projects.id, members.access_level, ${ends}, members.member_role_id
      from ${targets} join members on members.project_id = projects.id
     where ${inside} and ${of(users, 'members.user_id')}
    union all
    select members.user_id, projects.id, ${linkedLevel}, ${linkedEnds}, ${noRole}
      from ${targets} join group_links on group_links.group_id = any(namespaces.traversal_ids) ${invitedMembers}
     where ${inside} and ${isInherited} and ${of(users, 'members.user_id')}
    union all
    select members.user_id, projects.id, ${linkedLevel}, ${linkedEnds}, ${noRole}
      from ${targets} join group_links on group_links.project_id = projects.id ${invitedMembers}
     where ${inside} and ${isInherited} and ${of(users, 'members.user_id')}
    union all
    select namespaces.owner_id, projects.id, 50, 'infinity'::date, ${noRole}
      from ${targets}
     where ${inside} and namespaces.kind = 'user' and ${of(users, 'namespaces.owner_id')}`;
  await sql`
    insert into project_authorizations (user_id, project_id, access_level, expires_at, member_role_id)
    ${decisive(grants, sql`project_id`)}`.execute(tx);
}

/** Groups and projects that are shared with any of these groups or their descendants. */
async function invitedFrom(
  tx: Kysely<DB>,
  group_ids: readonly number[],
): Promise<{ groups: number[]; projects: number[] }> {
  const { rows } = await sql<{ group_id: number | null; project_id: number | null }>`
    select group_links.group_id, group_links.project_id
      from namespaces join group_links on group_links.invited_group_id = namespaces.id
     where namespaces.traversal_ids && ${group_ids}::bigint[]`.execute(tx);
  return {
    groups: rows.flatMap((row) => row.group_id ?? []),
    projects: rows.flatMap((row) => row.project_id ?? []),
  };
}

async function namespacesOf(tx: Kysely<DB>, project_ids: readonly number[]): Promise<number[]> {
  if (project_ids.length === 0) return [];
  const rows = await tx.selectFrom('projects').select('namespace_id').where('id', 'in', project_ids).execute();
  return rows.map(({ namespace_id }) => namespace_id);
}

/**
 * Refreshes authorizations in the transaction of the change: in the subtrees, and wherever groups in them are invited.
 * Changes of group members have already locked the reached trees by `lockTrees`; this only makes sure.
 * @param changed one subtree or several
 * @param users IDs of the users whose memberships changed; left out, all users (a group or project was created or moved)
 */
export async function refreshAuthorizations(
  tx: Kysely<DB>,
  changed: Subtree | readonly Subtree[],
  users?: readonly number[],
): Promise<void> {
  const subtrees = [changed].flat() as Subtree[];
  const groups = subtrees.flatMap((subtree) => ('group_id' in subtree ? subtree.group_id : []));
  const projects = subtrees.flatMap((subtree) => ('project_id' in subtree ? subtree.project_id : []));
  await lockTrees(tx, [...groups, ...(await namespacesOf(tx, projects))], groups);
  if (groups.length > 0) {
    const reached = await invitedFrom(tx, groups);
    groups.push(...reached.groups);
    projects.push(...reached.projects);
    await refreshGroups(tx, groups, users);
    await refreshProjects(tx, sql`namespaces.traversal_ids && ${groups}::bigint[]`, users);
  }
  if (projects.length > 0)
    await refreshProjects(tx, sql`projects.id = any(${ofAnyLength(projects, 'bigint[]')})`, users);
  const reached = [...groups.map((group_id) => ({ group_id })), ...projects.map((project_id) => ({ project_id }))];
  await endGrantsOfUsers(tx, reached, users);
}
