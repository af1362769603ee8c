/** Determines what the caller may read in the scope of an issue list. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  isMemberOfProject,
  isOwnIssue,
  isUsable,
  isVisibleIssue,
  levels,
  type MaybeCaller,
} from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import type { View } from '../../../../lists/index.ts';
import { isInScope, type ListScope, maximumNamed, visibleProjects } from '../../issuables/scope_queries.ts';
import type { IssueFilters } from './parameters.ts';

/**
 * What the caller may read in a scope.
 * @param filters exclude archived projects or not; ignored for a single project
 */
export async function viewOf(
  db: Database,
  caller: MaybeCaller,
  scope: ListScope,
  { non_archived = false }: IssueFilters,
): Promise<View> {
  if ('project' in scope) {
    const { id, access_level } = scope.project;
    const where: RawBuilder<SqlBool> =
      access_level >= levels.planner ? sql`true` : sql`(not issues.confidential or ${isOwnIssue(caller)})`;
    return { place_ids: [id], where };
  }
  const seesAll = caller?.admin ? sql`true` : isMemberOfProject(caller, levels.planner);
  const visible = visibleProjects(caller, isInScope(scope, non_archived), isUsable(caller, 'issues'), seesAll);
  const { rows } = await sql<{ id: number; sees_all: boolean }>`${visible} limit ${sql.lit(maximumNamed + 1)}`.execute(
    db,
  );
  if (rows.length > maximumNamed) {
    const isSeen = (project: RawBuilder<unknown>) =>
      sql<SqlBool>`exists (select from projects where projects.id = issues.project_id and ${project})`;
    const where = sql<SqlBool>`(not issues.confidential or ${isOwnIssue(caller)} or ${isSeen(seesAll)})`;
    const places = { ids: sql`select id from (${visible}) visible`, where: caller?.admin ? sql<SqlBool>`true` : where };
    return { places, where: isSeen(sql`${isInScope(scope, non_archived)} and ${isVisibleIssue(caller)}`) };
  }
  const open = rows.filter(({ sees_all }) => sees_all).map(({ id }) => id);
  const where = sql<SqlBool>`(not issues.confidential or issues.project_id = any(${open}::bigint[]) or ${isOwnIssue(caller)})`;
  return { place_ids: rows.map(({ id }) => id), where: open.length === rows.length ? sql`true` : where };
}
