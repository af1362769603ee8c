/** Jobs that runners hold, by their tokens (docs/reference/runner_protocol.md#tokens-of-jobs). */
import { sql } from 'kysely';
import { tokenDigest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Services } from '../../../http/index.ts';
import type { State } from '../../code/pipelines/index.ts';

export const maskedPurpose = 'masked values of a job';

/** Remembers which values the log of a job must not show. */
export async function noteMasked(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  job_id: number,
  values: readonly string[],
): Promise<void> {
  const masked_values = secrets.seal(maskedPurpose, JSON.stringify(values));
  await db.updateTable('job_runs').set({ masked_values }).where('job_id', '=', job_id).execute();
}

/** A job as the runner that holds it, or held it, names it. */
export interface HeldJob {
  id: number;
  status: State;
  pipeline_id: number;
  project_id: number;
  /** Whether its token is worth nothing any more. */
  ended: boolean;
  /** Whether it ended less than an hour ago, so that the runner may not have got the answer. */
  ended_lately: boolean;
  erased: boolean;
  /** Whether the project runs no jobs any more. */
  builds_disabled: boolean;
  acknowledged: boolean;
  /** Sealed. */
  masked_values: Buffer | null;
  /** Of the log: bytes from the runner, their CRC-32, and the last ones, sealed. */
  size: number;
  crc32: number;
  held_back: Buffer | null;
  was_resent: boolean;
}

/**
 * The job that a token belongs to, also after its end.
 * @param id that the runner names, too
 */
export async function heldJob(db: Database, id: number, token: string): Promise<HeldJob | undefined> {
  const { rows } = await sql<HeldJob>`
    select job.id, job.status, job.pipeline_id, job.project_id, ended_at is not null as ended, coalesce(ended_at > now() - interval '1 hour', false) as ended_lately,
           job.erased_at is not null as erased, projects.builds_access_level = 'disabled' as builds_disabled, acknowledged_at is not null as acknowledged,
           masked_values, job_logs.size, job_logs.crc32, job_logs.held_back, job_logs.was_resent
      from job_runs join commit_statuses job on job.id = job_runs.job_id join projects on projects.id = job.project_id
           join job_logs on job_logs.job_id = job.id
     where job_runs.token_digest = ${tokenDigest(token)} and job.id = ${id}`.execute(db);
  return rows[0];
}

export const notRunningText = 'Job is not running';

/** A job that a runner holds. */
export type RunningJob = Pick<HeldJob, 'id' | 'project_id' | 'pipeline_id'>;

/** The header that tells a runner in which state its job is. */
export const statusHeader = 'job-status';

/** Refuses what a runner wants for a job, and says in which state the job is, so that the runner stops. */
export const refusedJob = (reason: string, status?: string): ApiError =>
  new ApiError(403, { message: `403 Forbidden - ${reason}` }, status === undefined ? {} : { [statusHeader]: status });

/** Whether a runner holds a job. */
export const isHeld = ({ ended, status }: Pick<HeldJob, 'ended' | 'status'>): boolean =>
  !ended && (status === 'running' || status === 'canceling');

/**
 * The job that a token is of, while it runs.
 * @throws ApiError 403 for a token of no job that runs
 */
export async function jobOfToken(db: Database, token: string): Promise<RunningJob> {
  const { rows } = await sql<RunningJob & Pick<HeldJob, 'ended' | 'status'>>`
    select job.id, job.project_id, job.pipeline_id, job.status, ended_at is not null as ended
      from job_runs join commit_statuses job on job.id = job_runs.job_id
     where token_digest = ${tokenDigest(token)}`.execute(db);
  const [job] = rows;
  if (!job || !isHeld(job)) throw refusedJob(notRunningText, job?.status);
  return { id: job.id, project_id: job.project_id, pipeline_id: job.pipeline_id };
}

/** Notes that the runner of a job is alive. */
export const noteSeen = (db: Database, id: number) =>
  sql`update job_runs set seen_at = now(), acknowledged_at = coalesce(acknowledged_at, now()) where job_id = ${id}`.execute(
    db,
  );
