/** The end of a job, with all that follows from it in one transaction (docs/reference/runner_protocol.md#the-end-of-a-job). */
import { sql } from 'kysely';
import type { Job, SelectedJob } from '../../../ci_configuration/index.ts';
import { type Database, repeated } from '../../../db/index.ts';
import type { State } from '../../code/pipelines/index.ts';
import type { Outcome } from '../../deployments/environments/index.ts';
import { cancelOthers, tryAgain } from '../running/change_actions.ts';
import { renewEnvironmentOf } from '../running/deployment_actions.ts';
import { processPipeline } from '../running/process_actions.ts';
import { lockPipeline } from '../running/queries.ts';
import { measureCoverage } from './coverage_jobs.ts';
import { type FailureReason, isAllowedToFail, isTriedAgain } from './rules.ts';

/** How a job ended. */
export type End =
  | { status: 'canceled' }
  | {
      status: 'success';
      /** What it says of its environment. */
      environment?: Outcome;
      /** What else happens with the success, in the same transaction. */
      along?: (tx: Database) => Promise<void>;
    }
  | { status: 'failed'; reason: FailureReason; exit_code?: number | undefined };

interface Ending {
  status: State;
  ended: boolean;
  user_id: number | null;
  definition: SelectedJob;
  attempts: number;
}

/** The job as it is now; the pipeline is locked. Undefined without a runner that holds it. */
async function endingOf(tx: Database, id: number): Promise<Ending | undefined> {
  const { rows } = await sql<Ending>`
    select job.status, job_runs.ended_at is not null as ended, job.user_id, definition,
           (select count(*)::integer from commit_statuses before
             where before.pipeline_id = job.pipeline_id and before.name = job.name and before.id < job.id and before.retried and before.status = 'failed') as attempts
      from commit_statuses job join job_runs on job_runs.job_id = job.id join job_definitions on job_definitions.job_id = job.id
     where job.id = ${id}`.execute(tx);
  return rows[0];
}

/** Whether a job that ends so counts as a warning only. */
const allowance = (end: End, { allow_failure }: SelectedJob): boolean =>
  isAllowedToFail(allow_failure, end.status === 'failed' ? end.exit_code : undefined);

/**
 * Ends a job that a runner holds: its state, what is behind it, the status of the pipeline, and what hooks and mail wait for. One that has ended already stays as it is.
 * @returns the state of the job afterwards
 */
export const endJob = (
  db: Database,
  { id, pipeline_id, project_id }: { id: number; pipeline_id: number; project_id: number },
  end: End,
): Promise<State> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, pipeline_id);
    const job = await endingOf(tx, id);
    if (!job || job.ended || (job.status !== 'running' && job.status !== 'canceling')) return job?.status ?? 'canceled';
    const final: End = job.status === 'canceling' ? { status: 'canceled' } : end;
    const reason = final.status === 'failed' ? final.reason : null;
    await sql`
      with ended as (update job_runs set ended_at = now() where job_id = ${id})
      update commit_statuses set status = ${final.status}, failure_reason = ${reason}, finished_at = now(), allow_failure = ${allowance(final, job.definition)}
       where id = ${id}`.execute(tx);
    if (final.status !== 'canceled' && (job.definition.job as Job).coverage !== undefined)
      await measureCoverage.enqueue(tx, { job_id: id });
    if (final.status !== 'failed') {
      await processPipeline(tx, pipeline, { changed: [id] });
      if (final.status === 'success') {
        if (job.definition.environment_name !== undefined) await renewEnvironmentOf(tx, id, final.environment);
        await final.along?.(tx);
      }
      return final.status;
    }
    const { retry } = job.definition.job as Job;
    const again = isTriedAgain(retry, { before: job.attempts, reason: final.reason, exit_code: final.exit_code });
    const changed = again ? [id, ...(await tryAgain(tx, [id], job.user_id))] : [id];
    await processPipeline(tx, pipeline, { changed });
    if (!again && !allowance(final, job.definition)) await cancelOthers(tx, pipeline);
    return final.status;
  });

/** Fails a job that waits for a runner and will get none. One that is not waiting any more stays as it is. */
export const failWaiting = (
  db: Database,
  { id, pipeline_id, project_id }: { id: number; pipeline_id: number; project_id: number },
  reason: FailureReason,
): Promise<void> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, pipeline_id);
    const { rows } = await sql`
      update commit_statuses set status = 'failed', failure_reason = ${reason}, finished_at = now() where id = ${id} and status = 'pending' returning id`.execute(
      tx,
    );
    if (rows.length > 0) await processPipeline(tx, pipeline, { changed: [id] });
  });
