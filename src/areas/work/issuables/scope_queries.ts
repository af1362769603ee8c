/** The scope of a list: one project, all projects below a group, or all projects that the caller may read. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  countsToday,
  type Group,
  isListedProject,
  isMemberOfProject,
  isVisibleProject,
  levels,
  type MaybeCaller,
  type Project,
} from '../../../access/index.ts';

/** All projects below a group, or all projects; includes those marked for deletion unless `without_marked` is set. */
export type WideScope = ({ group: Pick<Group, 'id'> } | { everywhere: true }) & { without_marked?: true };

/** One project, all projects below a group, or all projects. */
export type ListScope = { project: Project } | WideScope;

/** Up to this many projects are listed by id. */
export const maximumNamed = 1000;

/** A predicate on rows of `projects`: they are in the scope. */
export function isInScope(scope: WideScope, nonArchived: boolean): RawBuilder<SqlBool> {
  const inside =
    'group' in scope
      ? sql`projects.namespace_id in (select id from namespaces where traversal_ids @> ${[scope.group.id]}::bigint[])`
      : sql`true`;
  const active = nonArchived ? sql`not ${isListedProject('archived')}` : sql`true`;
  const kept = scope.without_marked ? sql`not ${isListedProject('marked_for_deletion')}` : sql`true`;
  return sql`(${inside} and ${active} and ${kept})`;
}

/**
 * The visible projects whose items the caller may read, with `sees_all`. Projects of which the caller is a member are looked up one by one, and projects that are not private by an
 * index; with both conditions in one query, every project would be read.
 * @param readable a predicate on rows of `projects`: the caller may read items of this kind there
 * @param seesAll a predicate on rows of `projects`: the caller may read all items
 */
export function visibleProjects(
  caller: MaybeCaller,
  inside: RawBuilder<SqlBool>,
  readable: RawBuilder<SqlBool>,
  seesAll: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const where = (which: RawBuilder<SqlBool>) => sql`
    select projects.id, ${seesAll} as sees_all from projects
     where ${which} and ${inside} and ${isVisibleProject(caller)} and ${readable}`;
  if (!caller) return where(sql`projects.visibility <> 'private'`);
  if (caller.admin) return where(sql`true`);
  const open = sql<SqlBool>`projects.visibility <> 'private' and not ${isMemberOfProject(caller, levels.minimal)}`;
  return sql`
    select joined.* from (select distinct project_id from project_authorizations where user_id = ${caller.id} and ${countsToday()}) mine,
           lateral (${where(sql`projects.id = mine.project_id`)} limit 1) joined
    union all ${where(open)}`;
}
