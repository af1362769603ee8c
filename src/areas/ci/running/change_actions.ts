/** Retrying, cancelling and starting jobs and pipelines (docs/reference/pipelines.md#changing-pipelines). */
import { sql } from 'kysely';
import { type Database, repeated } from '../../../db/index.ts';
import { badRequest, forbidden } from '../../../http/index.ts';
import { finalStates } from '../../code/pipelines/index.ts';
import { forgetSkipped, makeReady, processPipeline } from './process_actions.ts';
import { type JobOf, lockPipeline, type Running } from './queries.ts';
import { isPlayable, isRetryable } from './rules.ts';

/** The columns that a new job has from the one that it replaces. */
const kept = sql.raw(
  'project_id, sha, ref, name, pipeline_id, kind, stage, stage_index, allow_failure, run_when, needs, interruptible, resource_group_id, environment, tags',
);

/**
 * Replaces jobs that have ended by new ones, which are created.
 * @returns the ids of the new ones
 */
async function replace(tx: Database, ids: readonly number[], user_id: number): Promise<number[]> {
  await sql`update commit_statuses set retried = true where id = any(${ids}::bigint[])`.execute(tx);
  const { rows } = await sql<{ id: number }>`
    with replaced as materialized (
      select old.id as old_id, nextval('commit_statuses_id_seq') as new_id from commit_statuses old where old.id = any(${ids}::bigint[]) order by old.id
    ), added as (
      insert into commit_statuses (id, user_id, status, ${kept}) overriding system value
      select new_id, ${user_id}, 'created', ${kept} from replaced join commit_statuses old on old.id = old_id
      returning id
    ), defined as (
      insert into job_definitions (job_id, definition)
      select new_id, definition from replaced join job_definitions on job_id = old_id
    )
    select id from added order by id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** The current jobs of a pipeline in some states. */
async function jobsIn(tx: Database, pipeline_id: number, where: ReturnType<typeof sql>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from commit_statuses where pipeline_id = ${pipeline_id} and not retried and ${where} order by id`.execute(
    tx,
  );
  return rows.map(({ id }) => id);
}

/** Replaces the failed and canceled jobs of a pipeline, and looks at skipped ones again. Without any, nothing changes. */
export const retryPipeline = (db: Database, project_id: number, id: number, user_id: number): Promise<void> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, id);
    const ended = await jobsIn(tx, id, sql`status in ('failed', 'canceled')`);
    if (ended.length === 0) return;
    const changed = await replace(tx, ended, user_id);
    await forgetSkipped(tx, id);
    await processPipeline(tx, pipeline, { changed });
  });

/** Cancels jobs that are not final. */
async function cancel(tx: Database, pipeline: Running, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update commit_statuses set status = 'canceled', finished_at = now(), scheduled_at = null where id = any(${ids}::bigint[])`.execute(
    tx,
  );
  await processPipeline(tx, pipeline, { changed: ids });
}

const isOpen = sql`status not in (${sql.join([...finalStates])})`;

/**
 * Cancels jobs of a pipeline; those that are final are left as they are.
 * @param which a predicate on rows of `commit_statuses`; without one, all of them
 */
export const cancelJobs = (
  db: Database,
  { project_id, id }: { project_id: number; id: number },
  which = sql`true`,
): Promise<void> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, id);
    await cancel(tx, pipeline, await jobsIn(tx, id, sql`${isOpen} and ${which}`));
  });

/** The state of a job whose pipeline is locked. */
async function stateOf(tx: Database, id: number) {
  const query = tx.selectFrom('commit_statuses').select(['status', 'retried']).where('id', '=', id);
  const { status, retried } = await query.executeTakeFirstOrThrow();
  return { status: status as JobOf['status'], retried };
}

export const notRetryableText = 'Job is not retryable';

/**
 * Replaces a job that has ended by a new one, which starts.
 * @returns its id
 * @throws ApiError 403
 */
export const retryJob = (db: Database, project_id: number, job: JobOf, user_id: number): Promise<number> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, job.pipeline_id);
    const { status, retried } = await stateOf(tx, job.id);
    if (retried || !isRetryable(status)) throw forbidden(notRetryableText);
    const changed = await replace(tx, [job.id], user_id);
    await makeReady(tx, changed);
    await forgetSkipped(tx, pipeline.id);
    await processPipeline(tx, pipeline, { changed });
    return changed[0]!;
  });

export const unplayableText = '400 Bad request - Unplayable Job';

/**
 * Starts a manual or delayed job.
 * @throws ApiError 400
 */
export const playJob = (db: Database, project_id: number, job: JobOf, user_id: number): Promise<void> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, job.pipeline_id);
    const { status, retried } = await stateOf(tx, job.id);
    if (retried || !isPlayable(status)) throw badRequest(unplayableText);
    await sql`update commit_statuses set user_id = ${user_id} where id = ${job.id}`.execute(tx);
    await makeReady(tx, [job.id]);
    await forgetSkipped(tx, pipeline.id);
    await processPipeline(tx, pipeline, { changed: [job.id] });
  });
