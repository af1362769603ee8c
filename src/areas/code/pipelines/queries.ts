/** Queries for pipelines. */
import { sql } from 'kysely';
import type { Static } from 'typebox';
import { type MaybeCaller, mayUse, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found, type Services } from '../../../http/index.ts';
import { hasReadablePipelines, isShownPipeline } from './access.ts';
import {
  coverageOfPipeline,
  detailColumns,
  type Pipeline,
  type PipelineBasic,
  type PipelineDetail,
  pipelineColumns,
  presentBasicPipeline,
  presentPipeline,
  presentPipelineDetail,
  userOfPipeline,
} from './present.ts';
import type { State } from './rules.ts';

/** The pipelines of a project that its members may see: pipelines of other systems stay when the project runs none of its own. */
export const pipelinesOf = (db: Database, project: Project) =>
  db
    .selectFrom('pipelines')
    .select(pipelineColumns)
    .select((q) => q.ref('pipelines.status').$castTo<State>().as('status'))
    .where('pipelines.project_id', '=', project.id)
    .$if(!mayUse(project, 'builds'), (q) => q.where('pipelines.source', '=', 'external'));

/** Whether each row of `pipelines` is too old to run again (docs/reference/pipelines.md#archived-pipelines). */
export const isArchived = sql<boolean>`
  coalesce(pipelines.created_at < now() - make_interval(secs => (select archive_builds_seconds from application_settings)), false)`;

const detailsOf = (db: Database, project: Project) =>
  pipelinesOf(db, project)
    .select(detailColumns)
    .select([userOfPipeline.as('user'), coverageOfPipeline.as('coverage'), isArchived.as('archived')]);

type Place = Pick<Services, 'db' | 'url'>;

/**
 * A pipeline as a reply.
 * @throws ApiError 404
 */
export async function pipelineReply(
  { db, url }: Place,
  project: Project,
  id: number,
): Promise<Static<typeof PipelineDetail>> {
  const row = await detailsOf(db, project).where('pipelines.id', '=', id).executeTakeFirst();
  return presentPipelineDetail(url, project.full_path, found('Pipeline', row));
}

/** The pipeline whose bridge has started another one, if the caller may read it. */
export async function upstreamReply(
  { db, url }: Place,
  caller: MaybeCaller,
  id: number,
): Promise<Static<typeof Pipeline> | null> {
  const row = await db
    .selectFrom('bridges')
    .innerJoin('commit_statuses', 'commit_statuses.id', 'bridges.job_id')
    .innerJoin('pipelines', 'pipelines.id', 'commit_statuses.pipeline_id')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .select([...pipelineColumns, 'full_path'])
    .select((q) => q.ref('pipelines.status').$castTo<State>().as('status'))
    .where('bridges.pipeline_id', '=', id)
    .where('has_started', '=', true)
    .where(hasReadablePipelines(caller))
    .where(isShownPipeline(caller))
    .executeTakeFirst();
  return row ? presentPipeline(url, row.full_path, row) : null;
}

export interface Head {
  /** The pipelines of the first project come before those of the others. */
  projects: readonly number[];
  sha: string;
  /** A pipeline of this ref comes before others, and one of a merge request before it. */
  ref?: string;
}

/** The newest pipeline of a commit that the caller may read; undefined if there is none. */
const headRow = (db: Database, caller: MaybeCaller, { projects, sha, ref = '' }: Head) =>
  db
    .selectFrom('pipelines')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .select([...pipelineColumns, ...detailColumns, 'full_path'])
    .select((q) => q.ref('pipelines.status').$castTo<State>().as('status'))
    .select([userOfPipeline.as('user'), coverageOfPipeline.as('coverage'), isArchived.as('archived')])
    .where('pipelines.project_id', 'in', projects)
    .where('pipelines.sha', '=', sha)
    .where(hasReadablePipelines(caller))
    .where(isShownPipeline(caller))
    .where('pipelines.source', '<>', 'parent_pipeline')
    .orderBy(sql`pipelines.project_id = ${projects[0]}`, 'desc')
    .orderBy(sql`pipelines.source = 'merge_request_event'`, 'desc')
    .orderBy(sql`pipelines.ref = ${ref}`, 'desc')
    .orderBy('pipelines.id', 'desc')
    .limit(1)
    .executeTakeFirst();

/** The newest pipeline of a commit that the caller may read, in both forms; null if there is none. */
export async function headPipeline(
  { db, url }: Place,
  caller: MaybeCaller,
  head: Head,
): Promise<{ basic: Static<typeof PipelineBasic>; detail: Static<typeof PipelineDetail> } | null> {
  const row = await headRow(db, caller, head);
  if (!row) return null;
  return {
    basic: presentBasicPipeline(url, row.full_path, row),
    detail: presentPipelineDetail(url, row.full_path, row),
  };
}

/**
 * The row of a pipeline. The caller must have been granted access to the project.
 * @throws ApiError 404
 */
export async function pipelineIn(db: Database, project: Project, id: number): Promise<{ id: number }> {
  return found('Pipeline', await pipelinesOf(db, project).where('pipelines.id', '=', id).executeTakeFirst());
}
