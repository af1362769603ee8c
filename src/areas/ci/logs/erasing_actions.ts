/** Erasing what jobs have left behind (docs/reference/job_logs.md#erasing). */
import { sql } from 'kysely';
import { type Database, repeated } from '../../../db/index.ts';
import { forbidden } from '../../../http/index.ts';
import { isFinal } from '../../code/pipelines/index.ts';
import { eraseArtifacts } from '../artifacts/actions.ts';
import { type JobOf, lockPipeline } from '../running/queries.ts';

export const notErasableText = 'Job is not erasable!';

/**
 * Erases the log and the files of a job that has ended.
 * @throws ApiError 403
 */
export const eraseJob = (db: Database, project_id: number, job: JobOf): Promise<void> =>
  repeated(db, async (tx) => {
    await lockPipeline(tx, project_id, job.pipeline_id);
    const query = tx.selectFrom('commit_statuses').select(['status', 'erased_at']).where('id', '=', job.id);
    const { status, erased_at } = await query.executeTakeFirstOrThrow();
    if (erased_at !== null || !isFinal(status as JobOf['status'])) throw forbidden(notErasableText);
    await sql`
      with logs as (delete from job_logs where job_id = ${job.id})
      update commit_statuses set erased_at = now() where id = ${job.id}`.execute(tx);
    await eraseArtifacts(tx, [job.id]);
  });
