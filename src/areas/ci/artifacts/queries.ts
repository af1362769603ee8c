/** Queries for the files of jobs. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { levels, mayUse, type Project } from '../../../access/index.ts';
import type { BlobKey } from '../../../blobs/index.ts';
import type { Database } from '../../../db/index.ts';
import { forbidden, found } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import type { Accessibility, FileType } from './rules.ts';

/** A file of a job. */
export interface Artifact {
  job_id: number;
  blob_key: BlobKey;
  filename: string;
  size_bytes: number;
  sha256: string;
  accessibility: Accessibility;
}

/**
 * A predicate on rows of `pipelines`: no newer pipeline of the same branch or tag has succeeded, so that its files are kept beyond their end, if the project and the server want it.
 */
export const isLatest: RawBuilder<SqlBool> = sql`
  (exists (select from application_settings where keep_latest_artifact)
   and exists (select from projects where projects.id = pipelines.project_id and keep_latest_artifact)
   and (pipelines.ref like 'refs/merge-requests/%'
        or exists (select from recorded_refs where recorded_refs.project_id = pipelines.project_id
                      and recorded_refs.ref = case when pipelines.tag then 'refs/tags/' else 'refs/heads/' end || pipelines.ref))
   and not exists (select from pipelines newer
                    where newer.project_id = pipelines.project_id and newer.ref = pipelines.ref and newer.id > pipelines.id and newer.tag = pipelines.tag
                      and newer.status = 'success' and newer.source not in ('parent_pipeline', 'external')))`;

/** A predicate on rows of `job_artifacts`: the end has not come, or the file is kept as the latest. */
export const isThere = sql<SqlBool>`
  (job_artifacts.expire_at is null or job_artifacts.expire_at > now()
   or exists (select from commit_statuses join pipelines on pipelines.id = commit_statuses.pipeline_id
               where commit_statuses.id = job_artifacts.job_id and ${isLatest}))`;

const artifactsOf = (db: Database) =>
  db
    .selectFrom('job_artifacts')
    .select(['job_id', 'blob_key', 'filename', 'size_bytes', 'sha256', 'accessibility'])
    .where(isThere)
    .$castTo<Artifact>();

/**
 * A file of a job, if it is there.
 * @param job_id of a job that the caller may read, or whose token they have
 */
export const artifactIn = (db: Database, job_id: number, type: FileType): Promise<Artifact | undefined> =>
  artifactsOf(db).where('job_id', '=', job_id).where('file_type', '=', type).executeTakeFirst();

/**
 * The archive of a job, for a caller who may read the pipelines of the project.
 * @throws ApiError 403 unless it is for the caller, 404 if there is none
 */
export async function archiveOf(db: Database, project: Project, job_id: number): Promise<Artifact> {
  const artifact = mayUse(project, 'builds')
    ? await artifactsOf(db)
        .where('project_id', '=', project.id)
        .where('job_id', '=', job_id)
        .where('file_type', '=', 'archive')
        .executeTakeFirst()
    : undefined;
  const { accessibility } = found(undefined, artifact);
  const isOpen = accessibility === 'all' || (accessibility === 'developer' && project.access_level >= levels.developer);
  if (!isOpen) throw forbidden();
  return artifact!;
}

/** The pipelines among which a job is looked for, if not only in the latest one that succeeded. */
const searched = 100;

/**
 * The job of a name in the latest pipeline of a branch or tag that succeeded.
 * @param options.search whether earlier ones that succeeded are looked at, too
 * @throws ApiError 404
 */
export async function latestJob(
  db: Database,
  project: Project,
  { ref, job, search }: { ref: string; job: string; search: boolean },
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    select commit_statuses.id
      from (select id from pipelines
             where project_id = ${project.id} and ref = ${ref} and status = 'success' and source not in ('parent_pipeline', 'external')
             order by id desc limit ${search ? searched : 1}) latest
      join commit_statuses on commit_statuses.pipeline_id = latest.id
     where name = ${job} and kind = 'job' and status = 'success' and not retried
       and exists (select from job_artifacts where job_id = commit_statuses.id and file_type = 'archive')
     order by latest.id desc limit 1`.execute(db);
  return found(undefined, rows[0]).id;
}

/** The largest file that jobs of a project may leave: what the project, the nearest group that says it, or the server allows. */
export async function mostBytes(db: Database, project_id: number): Promise<number> {
  const { rows } = await sql<{ own: number | null; inherited: number | null }>`
    select projects.max_artifacts_size as own,
           (select above.max_artifacts_size from namespaces above
             where above.id = any(place.traversal_ids) and above.max_artifacts_size is not null
             order by cardinality(above.traversal_ids) desc limit 1) as inherited
      from projects join namespaces place on place.id = projects.namespace_id where projects.id = ${project_id}`.execute(
    db,
  );
  const { own = null, inherited = null } = rows[0] ?? {};
  return (own ?? inherited ?? (await settingsOf(db)).max_artifacts_size) * 1024 * 1024;
}
