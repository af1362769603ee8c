/** The pipelines of a merge request. */
import { type SqlBool, sql } from 'kysely';
import type { MaybeCaller } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { hasReadablePipelines, isShownPipeline, pipelineColumns, type State } from '../../../code/pipelines/index.ts';

/** The pipelines for the heads of its versions, in the source and target project, that the caller may read. */
export const pipelinesOfMergeRequest = (db: Database, caller: MaybeCaller, id: number) =>
  db
    .selectFrom('pipelines')
    .select(pipelineColumns)
    .select((q) => q.ref('pipelines.status').$castTo<State>().as('status'))
    .select(sql<string>`(select full_path from projects where projects.id = pipelines.project_id)`.as('full_path'))
    .where(
      sql<SqlBool>`(pipelines.project_id, pipelines.sha) in (
        select place.id, version.head_commit_sha from merge_requests
               join merge_request_versions version on version.merge_request_id = merge_requests.id,
               lateral (select merge_requests.source_project_id union select merge_requests.project_id) place(id)
         where merge_requests.id = ${id})`,
    )
    .where(
      sql<SqlBool>`exists (select from projects where projects.id = pipelines.project_id and ${hasReadablePipelines(caller)} and ${isShownPipeline(caller)})`,
    )
    .where('pipelines.source', '<>', 'parent_pipeline')
    // Another merge request can have the same head.
    .where((q) => q.or([q('pipelines.source', '<>', 'merge_request_event'), q('pipelines.merge_request_id', '=', id)]))
    .orderBy('pipelines.id', 'desc');
