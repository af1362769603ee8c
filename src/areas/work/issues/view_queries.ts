/** Whose issues a list shows: of one project, or of the many that a caller may read. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import {
  type Group,
  isListedProject,
  isMemberOfProject,
  isVisibleIssue,
  isVisibleProject,
  levels,
  type MaybeCaller,
  type Project,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/** Of which places: one project, all projects below a group, or all. */
export type Place = { project: Project } | { group: Pick<Group, 'id'> } | { everywhere: true };

/** The issues that the caller may read there. */
export interface View {
  /** The projects, where they are few enough to be named. */
  project_ids?: readonly number[];
  /** A predicate on rows of `issues` besides that they are of these projects. */
  where: RawBuilder<SqlBool>;
}

/** A view of more projects does not name them: PostgreSQL asks about the project of each issue. */
const mostNamed = 1000;

const isOwn = (caller: MaybeCaller) =>
  caller
    ? sql`issues.author_id = ${caller.id} or exists (select from issue_assignees where issue_id = issues.id and user_id = ${caller.id})`
    : sql`false`;

const isUsable = (caller: MaybeCaller): RawBuilder<SqlBool> =>
  caller?.admin
    ? sql`projects.issues_access_level <> 'disabled'`
    : sql`(projects.issues_access_level = 'enabled' or (projects.issues_access_level = 'private' and ${isMemberOfProject(caller, levels.guest)}))`;

/** A predicate on rows of `projects`: they are in the place. */
function isIn(place: Exclude<Place, { project: Project }>, nonArchived: boolean): RawBuilder<SqlBool> {
  const inside =
    'group' in place
      ? sql`projects.namespace_id in (select id from namespaces where traversal_ids @> ${[place.group.id]}::bigint[])`
      : sql`true`;
  return nonArchived ? sql`(${inside} and not ${isListedProject('archived')})` : sql`(${inside})`;
}

/**
 * What the caller may read of a place.
 * @param nonArchived whether archived projects are left out; of one project this is not asked
 */
export async function viewOf(db: Database, caller: MaybeCaller, place: Place, nonArchived: boolean): Promise<View> {
  if ('project' in place) {
    const { id, access_level } = place.project;
    const where: RawBuilder<SqlBool> =
      access_level >= levels.planner ? sql`true` : sql`(not issues.confidential or ${isOwn(caller)})`;
    return { project_ids: [id], where };
  }
  const seesAll = caller?.admin ? sql`true` : isMemberOfProject(caller, levels.planner);
  const { rows } = await sql<{ id: number; sees_all: boolean }>`
    select projects.id, ${seesAll} as sees_all from projects
     where ${isIn(place, nonArchived)} and ${isVisibleProject(caller)} and ${isUsable(caller)} limit ${sql.lit(mostNamed + 1)}`.execute(
    db,
  );
  if (rows.length > mostNamed) {
    const where = sql<SqlBool>`exists (select from projects where projects.id = issues.project_id and ${isIn(place, nonArchived)} and ${isVisibleIssue(caller)})`;
    return { where };
  }
  const open = rows.filter(({ sees_all }) => sees_all).map(({ id }) => id);
  const where = sql<SqlBool>`(not issues.confidential or issues.project_id = any(${open}::bigint[]) or ${isOwn(caller)})`;
  return { project_ids: rows.map(({ id }) => id), where: open.length === rows.length ? sql`true` : where };
}
