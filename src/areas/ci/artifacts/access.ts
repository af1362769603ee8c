/** The jobs whose runners send and fetch files (docs/reference/job_artifacts.md#runners). */
import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { SelectedJob } from '../../../ci_configuration/index.ts';
import type { Database } from '../../../db/index.ts';
import { forbidden } from '../../../http/index.ts';
import { dependenciesOf } from './dependency_queries.ts';

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

/** Whether a job may fetch the files of another: its own, and those of the jobs that it gets files from. */
export async function isDependency(db: Database, holder: HeldJob, job_id: number): Promise<boolean> {
  if (job_id === holder.id) return true;
  const query = db.selectFrom('job_definitions').select('definition').where('job_id', '=', holder.id);
  const row = await query.$castTo<{ definition: SelectedJob }>().executeTakeFirst();
  return row !== undefined && (await dependenciesOf(db, holder.id, row.definition)).some(({ id }) => id === job_id);
}
