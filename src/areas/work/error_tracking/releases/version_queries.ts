/** Queries for releases announced by clients. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isMemberOfProject, levels, type Project, projectState } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import type { Caller } from '../../../../http/index.ts';

export interface VersionRow {
  id: number;
  version: string;
  url: string | null;
  commit_sha: string | null;
  created_at: string;
  started_at: string | null;
  released_at: string | null;
  project: Pick<Project, 'id' | 'name' | 'path' | 'full_path'>;
}

/** A predicate on rows of `projects`: they belong to an organization, and the caller has a role in them. */
const isInOrganization = (caller: Caller, org: string, level: number): RawBuilder<SqlBool> => sql`
  (starts_with(lower(projects.full_path::text), ${`${org.toLowerCase()}/`}) and not ${projectState.marked_for_deletion}
   and ${caller.admin ? sql`true` : isMemberOfProject(caller, level)})`;

/** A predicate on rows of `projects`: the caller may change the releases. */
export const isVersionEditor = (caller: Caller, org: string): RawBuilder<SqlBool> =>
  sql`(${isInOrganization(caller, org, levels.developer)} and not ${projectState.archived})`;

const maximumProjects = 100;

const versions = sql`
  select error_tracking_versions.id, version, url, commit_sha, error_tracking_versions.created_at, started_at, released_at,
         jsonb_build_object('id', projects.id, 'name', projects.name, 'path', projects.path, 'full_path', projects.full_path) as project
    from error_tracking_versions join projects on projects.id = error_tracking_versions.project_id`;

/**
 * A release in those projects of an organization that have it.
 * @param may whether the caller reads or changes it
 */
export async function versionsNamed(
  db: Database,
  caller: Caller,
  { org, version, may }: { org: string; version: string; may: 'read' | 'change' },
): Promise<VersionRow[]> {
  const isTheirs = may === 'read' ? isInOrganization(caller, org, levels.reporter) : isVersionEditor(caller, org);
  const { rows } = await sql<VersionRow>`
    ${versions} where version = ${version} and ${isTheirs} order by error_tracking_versions.id limit ${maximumProjects}`.execute(
    db,
  );
  return rows;
}

/** The previous release of the same project that has commits. */
export async function previousWithCommits(db: Database, { id, project }: VersionRow): Promise<VersionRow | undefined> {
  const { rows } = await sql<VersionRow>`
    ${versions}
     where project_id = ${project.id} and commit_sha is not null and error_tracking_versions.id <> ${id}
       and (error_tracking_versions.created_at, error_tracking_versions.id) < (
             select created_at, error_tracking_versions.id from error_tracking_versions where error_tracking_versions.id = ${id})
     order by error_tracking_versions.created_at desc, error_tracking_versions.id desc limit 1`.execute(db);
  return rows[0];
}

/** A page of the releases of a project, newest first, and whether there are more. */
export async function versionsOf(
  db: Database,
  project: Project,
  { per_page, offset }: { per_page: number; offset: number },
) {
  const { rows } = await sql<VersionRow>`
    ${versions} where project_id = ${project.id}
     order by error_tracking_versions.created_at desc, error_tracking_versions.id desc limit ${per_page + 1} offset ${offset}`.execute(
    db,
  );
  return { items: rows.slice(0, per_page), has_more: rows.length > per_page };
}

/** The commit that a client announced for a release. */
export async function commitOfVersion(db: Database, project_id: number, version: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('error_tracking_versions')
    .select('commit_sha')
    .where('project_id', '=', project_id)
    .where('version', '=', version)
    .executeTakeFirst();
  return row?.commit_sha ?? undefined;
}
