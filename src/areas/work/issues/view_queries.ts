/** The scope of an issue list: one project, or all projects that the caller may read. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type Group,
  isListedProject,
  isMemberOfProject,
  isOwnIssue,
  isUsableForIssues,
  isVisibleIssue,
  isVisibleProject,
  levels,
  type MaybeCaller,
  type Project,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { View } from '../issuables/index.ts';

/** One project, all projects below a group, or all projects. */
export type Place = { project: Project } | { group: Pick<Group, 'id'> } | { everywhere: true };

/** With more projects than this they are not listed by id; PostgreSQL checks the project of each issue instead. */
const mostNamed = 1000;

/** A predicate on rows of `projects`: they are in the scope. */
function isIn(place: Exclude<Place, { project: Project }>, nonArchived: boolean): RawBuilder<SqlBool> {
  const inside =
    'group' in place
      ? sql`projects.namespace_id in (select id from namespaces where traversal_ids @> ${[place.group.id]}::bigint[])`
      : sql`true`;
  return nonArchived ? sql`(${inside} and not ${isListedProject('archived')})` : sql`(${inside})`;
}

/**
 * What the caller may read in a scope.
 * @param nonArchived whether archived projects are left out; ignored for a single project
 */
export async function viewOf(db: Database, caller: MaybeCaller, place: Place, nonArchived: boolean): Promise<View> {
  if ('project' in place) {
    const { id, access_level } = place.project;
    const where: RawBuilder<SqlBool> =
      access_level >= levels.planner ? sql`true` : sql`(not issues.confidential or ${isOwnIssue(caller)})`;
    return { place_ids: [id], where };
  }
  const seesAll = caller?.admin ? sql`true` : isMemberOfProject(caller, levels.planner);
  const { rows } = await sql<{ id: number; sees_all: boolean }>`
    select projects.id, ${seesAll} as sees_all from projects
     where ${isIn(place, nonArchived)} and ${isVisibleProject(caller)} and ${isUsableForIssues(caller)} limit ${sql.lit(mostNamed + 1)}`.execute(
    db,
  );
  if (rows.length > mostNamed) {
    const where = sql<SqlBool>`exists (select from projects where projects.id = issues.project_id and ${isIn(place, nonArchived)} and ${isVisibleIssue(caller)})`;
    return { where };
  }
  const open = rows.filter(({ sees_all }) => sees_all).map(({ id }) => id);
  const where = sql<SqlBool>`(not issues.confidential or issues.project_id = any(${open}::bigint[]) or ${isOwnIssue(caller)})`;
  return { place_ids: rows.map(({ id }) => id), where: open.length === rows.length ? sql`true` : where };
}
