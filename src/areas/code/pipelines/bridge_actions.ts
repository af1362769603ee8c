/** Jobs that end with a pipeline which they have started, or found (docs/reference/pipelines.md#bridges). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';

/** Lets a job take the status of the pipeline that it waits for. A higher area runs the job. */
export const followQueue = queueOf('follow_pipeline', {
  input: { job_id: Id, pipeline_id: Id, project_id: Id },
  retries: 5,
});

/**
 * Lets the jobs that wait for a pipeline look at it again.
 * @param tx the transaction in which the pipeline ends, begins again or is deleted
 */
export async function followPipeline(tx: Database, id: number): Promise<void> {
  const { rows } = await sql<{ job_id: number; pipeline_id: number; project_id: number }>`
    select job.id as job_id, job.pipeline_id, job.project_id from bridges join commit_statuses job on job.id = bridges.job_id
     where bridges.pipeline_id = ${id} and waits and not job.retried order by job.id`.execute(tx);
  await followQueue.enqueueEach(tx, rows);
}

/** Whether the job that has started a pipeline ends as it does, so that its own pipeline tells of it. */
export async function isWaitedFor(tx: Database, id: number): Promise<boolean> {
  const { rows } = await sql`select from bridges where pipeline_id = ${id} and has_started and waits`.execute(tx);
  return rows.length > 0;
}
