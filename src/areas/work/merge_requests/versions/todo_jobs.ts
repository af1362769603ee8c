/** Reminds people of merge requests whose pipeline has failed (docs/reference/todos.md#when-items-are-created). */
import { sql } from 'kysely';
import { mergeRequestKind } from '../../../../access/index.ts';
import { type Database, repeated } from '../../../../db/index.ts';
import { addTodos, endTodos } from '../../../activity/todos/index.ts';
import { pipelineEnded } from '../../../code/pipelines/index.ts';

/** The most merge requests of one branch that people are reminded of. */
const maximumMergeRequests = 20;

interface Concerned {
  id: number;
  status: string;
  author_id: number;
  auto_merge_user_id: number | null;
  started_by_id: number | null;
}

/** The open merge requests whose head a pipeline is about, if it is the newest one of its commit. */
async function mergeRequestsOf(tx: Database, pipeline_id: number): Promise<Concerned[]> {
  const { rows } = await sql<Concerned>`
    select merge_requests.id, pipelines.status, author_id, auto_merge_user_id, pipelines.user_id as started_by_id
      from pipelines join merge_requests on source_project_id = pipelines.project_id and head_commit_id = pipelines.sha and merge_requests.state = 'opened'
     where pipelines.id = ${pipeline_id} and pipelines.source <> 'parent_pipeline'
       and not exists (select from pipelines newer
                        where newer.project_id = pipelines.project_id and newer.sha = pipelines.sha and newer.id > pipelines.id and newer.source <> 'parent_pipeline')
     order by merge_requests.id limit ${sql.lit(maximumMergeRequests)}`.execute(tx);
  return rows;
}

/** Enqueued when a pipeline has succeeded or failed: reminds the authors of its merge requests, and those who wait to merge them, of a failure; a success ends what reminds them. */
export const remindOfPipeline = pipelineEnded.runBy(({ db, input }) =>
  repeated(db, async (tx) => {
    for (const { id, status, author_id, auto_merge_user_id, started_by_id } of await mergeRequestsOf(tx, input.id)) {
      const target = { kind: mergeRequestKind, id };
      if (status === 'success') await endTodos(tx, target, 'build_failed');
      if (status === 'failed')
        await addTodos(tx, {
          ...{ target, action: 'build_failed', author_id: started_by_id ?? author_id },
          user_ids: [author_id, ...(auto_merge_user_id === null ? [] : [auto_merge_user_id])],
        });
    }
  }),
);
