/** Starts the jobs that stop environments, and fails jobs whose deployment was rejected (docs/reference/environments.md#deployments-by-jobs). */
import { sql } from 'kysely';
import { callerInJob, mayUse, projectFor } from '../../../access/index.ts';
import { type Database, repeated } from '../../../db/index.ts';
import { ApiError, type Services } from '../../../http/index.ts';
import { concludeStops, failRejectedJob, startStopJob } from '../../deployments/environments/index.ts';
import { runnableJob } from './access.ts';
import { playJob, retryJob } from './change_actions.ts';
import { processPipeline } from './process_actions.ts';
import { type JobOf, lockPipeline } from './queries.ts';
import { isPlayable, isRetryable } from './rules.ts';

/** An environment that is to be stopped by a job. */
interface Stopping {
  project_id: number;
  user_id: number | null;
  /** Null if the job is gone. */
  job_id: number | null;
}

async function stoppingOf(db: Database, environment_id: number): Promise<Stopping | undefined> {
  const { rows } = await sql<Stopping>`
    select environments.project_id, last.user_id,
           (select job.id from commit_statuses own join commit_statuses job on job.pipeline_id = own.pipeline_id and job.name = last.on_stop and not job.retried
             where own.id = last.job_id and job.kind <> 'status') as job_id
      from environments, lateral (
        select user_id, job_id, on_stop from deployments where environment_id = environments.id and status = 'success'
         order by finished_at desc, id desc limit 1) last
     where environments.id = ${environment_id} and environments.state = 'stopping'`.execute(db);
  return rows[0];
}

/** Starts a job again, or for the first time; one that waits or runs does so already. */
async function start(db: Database, project_id: number, job: JobOf, user_id: number): Promise<void> {
  if (isPlayable(job.status)) await playJob(db, project_id, job, { user_id });
  else if (isRetryable(job.status)) await retryJob(db, project_id, job, { user_id });
}

/** @returns whether the job will stop the environment: it may be that nobody may start it */
async function startFor(
  services: Pick<Services, 'db' | 'url'>,
  { project_id, job_id, user_id }: Stopping,
): Promise<boolean> {
  const { db } = services;
  const caller = user_id === null ? undefined : await callerInJob(services, user_id);
  const project = caller && (await projectFor(db, caller, String(project_id)));
  if (!caller || !project || job_id === null || project.read_only || !mayUse(project, 'builds')) return false;
  try {
    await start(db, project_id, await runnableJob({ db, project, caller }, job_id), caller.id);
    return true;
  } catch (error) {
    if (error instanceof ApiError) return false;
    throw error;
  }
}

/** Enqueued when an environment is stopped that a job stops. Without that job it stops at once; if nobody may start it, the environment stays. */
export const stopByJob = startStopJob.runBy(async ({ input: { environment_id, user_id }, db, url }) => {
  const stopping = await stoppingOf(db, environment_id);
  if (!stopping || (await startFor({ db, url }, { ...stopping, user_id: user_id ?? stopping.user_id }))) return;
  await concludeStops(db, [{ environment_id, has_stopped: stopping.job_id === null }]);
});

/** Enqueued when a deployment was rejected: its job waits no longer. */
export const failRejected = failRejectedJob.runBy(({ db, input: { job_id, project_id } }) =>
  repeated(db, async (tx) => {
    const query = tx.selectFrom('commit_statuses').select('pipeline_id').where('id', '=', job_id);
    const job = await query.executeTakeFirst();
    if (!job?.pipeline_id) return;
    const pipeline = await lockPipeline(tx, project_id, job.pipeline_id);
    const { rows } = await sql`
      update commit_statuses set status = 'failed', failure_reason = 'deployment_rejected', finished_at = now()
       where id = ${job_id} and status = 'manual' returning id`.execute(tx);
    if (rows.length > 0) await processPipeline(tx, pipeline, { changed: [job_id] });
  }),
);
