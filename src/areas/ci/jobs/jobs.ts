/** Looks after jobs whose runners are silent, and those that no runner will take (docs/reference/runner_protocol.md#silence). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, repeated } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';
import { processPipeline } from '../running/process_actions.ts';
import { lockPipeline } from '../running/queries.ts';
import { endJob, failWaiting } from './end_actions.ts';
import { removeOldRefs } from './ref_actions.ts';
import type { FailureReason } from './rules.ts';
import { waitingTooLong, waitingUnmatched } from './waiting_queries.ts';

const setting = (name: 'ci_job_start_seconds' | 'ci_job_silence_seconds') =>
  sql`(select ${sql.ref(name)} from application_settings)`;
/** A runner says within this time that it has got the job; otherwise the answer was lost. */
const start_s = setting('ci_job_start_seconds');
/** A runner reports at least every half a minute. */
const silence_s = setting('ci_job_silence_seconds');
/** The server ends a job that its runner should have ended by now. */
const overtime_s = 300;
/** The longest time for what is run after a job that was cancelled. */
const canceling_s = 300;

const mostAtOnce = 100;

interface Overdue {
  id: number;
  pipeline_id: number;
  project_id: number;
}

/** Jobs that runners hold, in a state. */
async function heldWhere(db: Database, where: RawBuilder<SqlBool>): Promise<Overdue[]> {
  const { rows } = await sql<Overdue>`
    select job.id, job.pipeline_id, job.project_id from job_runs join commit_statuses job on job.id = job_runs.job_id
     where ended_at is null and ${where} order by job.id limit ${sql.lit(mostAtOnce)}`.execute(db);
  return rows;
}

const longerThan = (since: string, seconds: number | RawBuilder<unknown>) =>
  sql<SqlBool>`${sql.ref(since)} < now() - make_interval(secs => ${typeof seconds === 'number' ? sql.lit(seconds) : seconds})`;

/** Takes a job back whose runner did not get the answer: it waits for a runner again, and its token is worth nothing. */
const takeBack = (db: Database, { id, pipeline_id, project_id }: Overdue): Promise<void> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, pipeline_id);
    const { rows } = await sql`
      with lost as (
        update job_runs set token_digest = sha256(token_digest), seen_at = now()
         where job_id = ${id} and ended_at is null and acknowledged_at is null returning job_id
      )
      update commit_statuses set status = 'pending', queued_at = now(), started_at = null, runner_id = null, runner_manager_id = null
       where id = (select job_id from lost) and status = 'running' returning id`.execute(tx);
    if (rows.length > 0) await processPipeline(tx, pipeline, { changed: [id] });
  });

/** Enqueued each minute. */
export const endOverdueJobs = job('end_overdue_jobs', {
  input: {},
  retries: 1,
  schedule: '* * * * *',
  run: async ({ db }) => {
    const fail = async (jobs: readonly Overdue[], reason: FailureReason) => {
      for (const each of jobs) await endJob(db, each, { status: 'failed', reason });
    };
    const isRunning = sql`job.status = 'running'`;
    const isLost = sql`${isRunning} and acknowledged_at is null and ${longerThan('handed_out_at', start_s)}`;
    for (const lost of await heldWhere(db, sql`${isLost} and handed_out = 1`)) await takeBack(db, lost);
    await fail(await heldWhere(db, sql`${isLost} and handed_out > 1`), 'runner_system_failure');
    await fail(
      await heldWhere(db, sql`${isRunning} and acknowledged_at is not null and ${longerThan('seen_at', silence_s)}`),
      'stuck_or_timeout_failure',
    );
    const longest = sql`timeout_s + ${sql.lit(overtime_s)}`;
    await fail(
      await heldWhere(db, sql`${isRunning} and ${longerThan('started_at', longest)}`),
      'job_execution_timeout',
    );
    const isLate = sql<SqlBool>`job.status = 'canceling' and ${longerThan('canceling_at', canceling_s)}`;
    for (const late of await heldWhere(db, isLate)) await endJob(db, late, { status: 'canceled' });
    for (const waiting of await waitingUnmatched(db)) await failWaiting(db, waiting, 'no_matching_runner');
    for (const waiting of await waitingTooLong(db)) await failWaiting(db, waiting, 'stuck_or_timeout_failure');
  },
});

/** Every hour: removes refs that no job needs any more. */
export const removePipelineRefs = job('remove_pipeline_refs', {
  input: {},
  retries: 1,
  schedule: '15 * * * *',
  run: removeOldRefs,
});
