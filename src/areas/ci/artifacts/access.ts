/** The jobs whose runners send and fetch files (docs/reference/job_artifacts.md#runners). */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { forbidden } from '../../../http/index.ts';

/** A job that a runner holds. */
export interface HeldJob {
  id: number;
  project_id: number;
  pipeline_id: number;
}

export const notRunningText = 'Job is not running';

/**
 * The job that a token is of.
 * @throws ApiError 403 for a token of no job that runs
 */
export async function jobOfToken(db: Database, token: string): Promise<HeldJob> {
  const digest = Buffer.from(hash('sha256', token), 'hex');
  const { rows } = await sql<HeldJob>`
    select commit_statuses.id, project_id, pipeline_id
      from job_runs join commit_statuses on commit_statuses.id = job_runs.job_id
     where token_digest = ${digest} and ended_at is null and status in ('running', 'canceling')`.execute(db);
  if (!rows[0]) throw forbidden(notRunningText);
  return rows[0];
}

/** Whether a job may fetch the files of another: its own, and those of jobs before it in its pipeline. */
export async function isDependency(db: Database, holder: HeldJob, job_id: number): Promise<boolean> {
  const { rows } = await sql`
    select from commit_statuses other
     where other.id = ${job_id} and other.project_id = ${holder.project_id} and other.pipeline_id = ${holder.pipeline_id}`.execute(
    db,
  );
  return rows.length > 0;
}
