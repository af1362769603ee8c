/** Retrying, cancelling and starting jobs and pipelines (docs/reference/pipelines.md#changing-pipelines). */
import { type RawBuilder, sql } from 'kysely';
import { type Database, repeated } from '../../../db/index.ts';
import { badRequest, forbidden } from '../../../http/index.ts';
import { finalStates } from '../../code/pipelines/index.ts';
import { cancelChildren, descendantsOf, isStartedBy } from './bridge_actions.ts';
import { type Starting, unplayableText } from './deployment_actions.ts';
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
async function replace(tx: Database, ids: readonly number[], user_id: number | null): Promise<number[]> {
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
    ), given as (
      insert into job_variables (job_id, key, value) select new_id, key, value from replaced join job_variables on job_id = old_id
    )
    select id from added order by id`.execute(tx);
  return rows.map(({ id }) => id);
}

/** Tries jobs that have ended once more, as new ones that wait for a runner; those behind them wait for these. @returns the ids of the new ones */
export async function tryAgain(tx: Database, ids: readonly number[], user_id: number | null): Promise<number[]> {
  const added = await replace(tx, ids, user_id);
  await makeReady(tx, added);
  return added;
}

/** The current jobs of a pipeline in some states. They are locked, since a runner may be taking one. */
async function jobsIn(tx: Database, pipeline_id: number, where: ReturnType<typeof sql>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from commit_statuses where pipeline_id = ${pipeline_id} and not retried and ${where} order by id for update`.execute(
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

/** A runner that was silent for longer is not waited for. */
const silence_s = 120;

/** Whether the runner of a row of `job_runs` ends its job by itself when it learns that it was cancelled. */
const endsByItself = sql`
  (can_cancel_gracefully and acknowledged_at is not null and seen_at > now() - make_interval(secs => ${sql.lit(silence_s)}))`;

/**
 * Cancels locked jobs that are not final. A runner that can ends its job itself, with what is to be run after it; from others the job is taken.
 * @param isWhole whether all that is left of the pipeline is canceled, with all of its children
 * @param force whether no runner is waited for
 */
async function cancel(
  tx: Database,
  pipeline: Running,
  ids: readonly number[],
  { isWhole, force = false }: { isWhole: boolean; force?: boolean },
): Promise<void> {
  if (ids.length === 0) return;
  await cancelChildren(tx, pipeline.id, isWhole ? sql`true` : isStartedBy(ids));
  const isAsked = force ? sql`false` : endsByItself;
  await sql`
    with asked as (
      update job_runs set canceling_at = now() where job_id = any(${ids}::bigint[]) and ended_at is null and ${isAsked} returning job_id
    ), taken as (
      update job_runs set ended_at = now() where job_id = any(${ids}::bigint[]) and ended_at is null and not ${isAsked}
    )
    update commit_statuses job
       set status = case when job_id is null then 'canceled' else 'canceling' end, finished_at = case when job_id is null then now() end, scheduled_at = null
      from commit_statuses same left join asked on job_id = same.id
     where same.id = job.id and job.id = any(${ids}::bigint[])`.execute(tx);
  await processPipeline(tx, pipeline, { changed: ids });
}

const isOpen = sql`status not in (${sql.join([...finalStates, 'canceling'])})`;

interface Place {
  project_id: number;
  id: number;
}

/**
 * Takes a job from its runner that was asked to end it.
 * @returns whether it was `canceling`
 */
export const forceCancel = (db: Database, { project_id, id }: Place, job_id: number): Promise<boolean> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, id);
    const held = await jobsIn(tx, id, sql`id = ${job_id} and status = 'canceling'`);
    await cancel(tx, pipeline, held, { isWhole: false, force: true });
    return held.length > 0;
  });

/** Cancels what is left of a pipeline whose configuration says so, after a job of it has failed. */
export async function cancelOthers(tx: Database, pipeline: Running): Promise<void> {
  const query = tx.selectFrom('pipelines').select('on_job_failure').where('id', '=', pipeline.id);
  const { on_job_failure } = await query.executeTakeFirstOrThrow();
  if (on_job_failure === 'all') await cancelWhole(tx, pipeline);
}

/**
 * Cancels some jobs of a pipeline, and the children that bridges among them have started. Jobs that are final are left as they are.
 * @param which a predicate on rows of `commit_statuses`
 */
export const cancelJobs = (db: Database, { project_id, id }: Place, which: RawBuilder<unknown>): Promise<void> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, id);
    await cancel(tx, pipeline, await jobsIn(tx, id, sql`${isOpen} and ${which}`), { isWhole: false });
  });

/**
 * Cancels what is left of a locked pipeline, and its children soon.
 * @param provided a predicate on rows of `commit_statuses`, which holds for all of a pipeline or for none
 */
export const cancelWhole = async (tx: Database, pipeline: Running, provided = sql`true`): Promise<void> =>
  cancel(tx, pipeline, await jobsIn(tx, pipeline.id, sql`${isOpen} and ${provided}`), { isWhole: true });

/**
 * Cancels what is left of a pipeline, and its children.
 * @param provided a predicate on rows of `commit_statuses`, which holds for all of a pipeline or for none
 */
export const cancelPipeline = (db: Database, { project_id, id }: Place, provided = sql`true`): Promise<void> =>
  repeated(db, async (tx) => cancelWhole(tx, await lockPipeline(tx, project_id, id), provided));

/** Cancels a pipeline and all below it at once, before they are deleted. */
export async function cancelTree(db: Database, { project_id, id }: Place): Promise<void> {
  for (const each of [id, ...(await descendantsOf(db, id))]) await cancelPipeline(db, { project_id, id: each });
}

/** The state of a job whose pipeline is locked. */
async function stateOf(tx: Database, id: number) {
  const query = tx.selectFrom('commit_statuses').select(['status', 'retried']).where('id', '=', id);
  const { status, retried } = await query.executeTakeFirstOrThrow();
  return { status: status as JobOf['status'], retried };
}

/** Who starts a job, and the variables that they give it, sealed. */
export interface Asking {
  user_id: number;
  variables?: readonly { key: string; value: Buffer }[];
}

async function giveVariables(tx: Database, job_id: number, variables: NonNullable<Asking['variables']>): Promise<void> {
  if (variables.length === 0) return;
  await tx
    .insertInto('job_variables')
    .values(variables.map((variable) => ({ ...variable, job_id })))
    .onConflict((conflicts) =>
      conflicts.columns(['job_id', 'key']).doUpdateSet((q) => ({ value: q.ref('excluded.value') })),
    )
    .execute();
}

export const notRetryableText = 'Job is not retryable';

/**
 * Replaces a job that has ended by a new one, which starts.
 * @returns its id
 * @throws ApiError 400, 403
 */
export const retryJob = (
  db: Database,
  project_id: number,
  job: Pick<JobOf, 'id' | 'pipeline_id'>,
  { user_id, variables = [] }: Asking,
): Promise<number> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, job.pipeline_id);
    const { status, retried } = await stateOf(tx, job.id);
    if (retried || !isRetryable(status)) throw forbidden(notRetryableText);
    const changed = await replace(tx, [job.id], user_id);
    await giveVariables(tx, changed[0]!, variables);
    await makeReady(tx, changed, { override_freeze: false });
    await forgetSkipped(tx, pipeline.id);
    await processPipeline(tx, pipeline, { changed });
    return changed[0]!;
  });

/**
 * Starts a manual or delayed job.
 * @throws ApiError 400, also while approvals are missing; 403 if the environment is protected against the user, or the project is frozen
 */
export const playJob = (
  db: Database,
  project_id: number,
  job: Pick<JobOf, 'id' | 'pipeline_id'>,
  { user_id, variables = [], ...starting }: Starting & Asking,
): Promise<void> =>
  repeated(db, async (tx) => {
    const pipeline = await lockPipeline(tx, project_id, job.pipeline_id);
    const { status, retried } = await stateOf(tx, job.id);
    if (retried || !isPlayable(status)) throw badRequest(unplayableText);
    await sql`
      with deployed as (update deployments set user_id = ${user_id} where job_id = ${job.id})
      update commit_statuses set user_id = ${user_id} where id = ${job.id}`.execute(tx);
    await giveVariables(tx, job.id, variables);
    await makeReady(tx, [job.id], starting);
    await forgetSkipped(tx, pipeline.id);
    await processPipeline(tx, pipeline, { changed: [job.id] });
  });
