/** The scope of an issue list: one project, or all projects that the caller may read. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  countsToday,
  type Group,
  isListedProject,
  isMemberOfProject,
  isOwnIssue,
  isUsable,
  isVisibleIssue,
  isVisibleProject,
  levels,
  type MaybeCaller,
  type Project,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { View } from '../issuables/index.ts';

/** One project, all projects below a group, or all projects. */
export type ListScope = { project: Project } | { group: Pick<Group, 'id'> } | { everywhere: true };

/** With more projects than this they are not listed by id. */
const mostNamed = 1000;

/** A predicate on rows of `projects`: they are in the scope. */
function isIn(scope: Exclude<ListScope, { project: Project }>, nonArchived: boolean): RawBuilder<SqlBool> {
  const inside =
    'group' in scope
      ? sql`projects.namespace_id in (select id from namespaces where traversal_ids @> ${[scope.group.id]}::bigint[])`
      : sql`true`;
  return nonArchived ? sql`(${inside} and not ${isListedProject('archived')})` : sql`(${inside})`;
}

/**
 * What the caller may read in a scope.
 * @param nonArchived whether archived projects are left out; ignored for a single project
 */
export async function viewOf(db: Database, caller: MaybeCaller, scope: ListScope, nonArchived: boolean): Promise<View> {
  if ('project' in scope) {
    const { id, access_level } = scope.project;
    const where: RawBuilder<SqlBool> =
      access_level >= levels.planner ? sql`true` : sql`(not issues.confidential or ${isOwnIssue(caller)})`;
    return { place_ids: [id], where };
  }
  const seesAll = caller?.admin ? sql`true` : isMemberOfProject(caller, levels.planner);
  const visible = visibleProjects(caller, isIn(scope, nonArchived), seesAll);
  const { rows } = await sql<{ id: number; sees_all: boolean }>`${visible} limit ${sql.lit(mostNamed + 1)}`.execute(db);
  if (rows.length > mostNamed) {
    const isSeen = (project: RawBuilder<unknown>) =>
      sql<SqlBool>`exists (select from projects where projects.id = issues.project_id and ${project})`;
    const where = sql<SqlBool>`(not issues.confidential or ${isOwnIssue(caller)} or ${isSeen(seesAll)})`;
    const places = { ids: sql`select id from (${visible}) visible`, where: caller?.admin ? sql<SqlBool>`true` : where };
    return { places, where: isSeen(sql`${isIn(scope, nonArchived)} and ${isVisibleIssue(caller)}`) };
  }
  const open = rows.filter(({ sees_all }) => sees_all).map(({ id }) => id);
  const where = sql<SqlBool>`(not issues.confidential or issues.project_id = any(${open}::bigint[]) or ${isOwnIssue(caller)})`;
  return { place_ids: rows.map(({ id }) => id), where: open.length === rows.length ? sql`true` : where };
}

/**
 * The projects whose issues the caller may read, with `sees_all`. Those of which they are a member are looked up one by one, and those that are not private
 * have an index; with both conditions in one, every project would be read.
 */
function visibleProjects(caller: MaybeCaller, inside: RawBuilder<SqlBool>, seesAll: RawBuilder<unknown>): RawBuilder<unknown> {
  const where = (which: RawBuilder<SqlBool>) => sql`
    select projects.id, ${seesAll} as sees_all from projects
     where ${which} and ${inside} and ${isVisibleProject(caller)} and ${isUsable(caller, 'issues')}`;
  if (!caller) return where(sql`projects.visibility <> 'private'`);
  if (caller.admin) return where(sql`true`);
  const open = sql<SqlBool>`projects.visibility <> 'private' and not ${isMemberOfProject(caller, levels.minimal)}`;
  return sql`
    select joined.* from (select distinct project_id from project_authorizations where user_id = ${caller.id} and ${countsToday()}) mine,
           lateral (${where(sql`projects.id = mine.project_id`)} limit 1) joined
    union all ${where(open)}`;
}
