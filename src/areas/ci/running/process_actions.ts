/** Moves the jobs of a pipeline on, with all that follows from it in the same transaction (docs/reference/pipelines.md#who-goes-next). */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { tellWaiting } from '../../code/commit_statuses/index.ts';
import { isFinal, notifyOfPipeline, refreshPipeline, tellOfJobs, tellOfPipeline } from '../../code/pipelines/index.ts';
import { lockPipeline, plannedJobs, type Running } from './queries.ts';
import { advance, type Next, occupying } from './rules.ts';

/** Starts a delayed job when its time has come. */
const delayedJobs = queueOf('start_delayed_job', { input: { job_id: Id }, retries: 3 });

/** Moves the jobs of a pipeline on after a job of it got its resource in a transaction of another pipeline. */
const processQueue = queueOf('process_pipeline', { input: { pipeline_id: Id, project_id: Id }, retries: 3 });

const isAmongIds = (ids: readonly number[]) => sql`id = any(${ids}::bigint[])`;

/** @returns the ids of the jobs that were changed */
async function change(tx: Database, set: RawBuilder<unknown>, where: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`update commit_statuses set ${set} where ${where} returning id`.execute(tx);
  return rows.map(({ id }) => id);
}

const queued = sql`status = 'pending', queued_at = now(), scheduled_at = null`;

/**
 * Hands the resource of a group to the next job that waits for it, unless a job has it.
 * @param tx a transaction in which no other group is locked
 */
async function handOn(tx: Database, group_id: number): Promise<void> {
  const group = await tx
    .selectFrom('resource_groups')
    .select('process_mode')
    .where('id', '=', group_id)
    .forUpdate()
    .executeTakeFirst();
  const isTaken = sql`exists (select from commit_statuses where resource_group_id = ${group_id} and status in (${sql.join(occupying)}))`;
  const order = sql.raw(group?.process_mode.startsWith('newest') ? 'desc' : 'asc');
  const given = await change(
    tx,
    queued,
    sql`not ${isTaken} and id = (
      select id from commit_statuses where resource_group_id = ${group_id} and status = 'waiting_for_resource' order by id ${order} limit 1 for update)`,
  );
  if (given.length === 0) return;
  await tellOfJobs(tx, given);
  const { rows } = await sql<{ pipeline_id: number; project_id: number }>`
    select pipeline_id, project_id from commit_statuses where ${isAmongIds(given)}`.execute(tx);
  await processQueue.enqueueEach(tx, rows);
}

/** The resource groups of some jobs, each once, in the order in which they are locked. */
async function groupsOf(tx: Database, ids: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select distinct resource_group_id as id from commit_statuses where ${isAmongIds(ids)} and resource_group_id is not null order by 1`.execute(
    tx,
  );
  return rows.map(({ id }) => id);
}

/**
 * Makes jobs available to runners; those of a resource group wait for the resource.
 * @param ids of jobs that are not final
 */
export async function makeReady(tx: Database, ids: readonly number[]): Promise<void> {
  await change(tx, queued, sql`${isAmongIds(ids)} and resource_group_id is null`);
  const groups = await groupsOf(tx, ids);
  if (groups.length === 0) return;
  await change(
    tx,
    sql`status = 'waiting_for_resource', scheduled_at = null`,
    sql`${isAmongIds(ids)} and resource_group_id is not null`,
  );
  for (const group of groups) await handOn(tx, group);
}

/** Hands on the resources of jobs that have ended. */
async function release(tx: Database, ids: readonly number[]): Promise<void> {
  for (const group of await groupsOf(tx, ids)) await handOn(tx, group);
}

async function delay(tx: Database, ids: readonly number[]): Promise<void> {
  const { rows } = await sql<{ id: number; seconds: number }>`
    with delays as (
      select job_id, (definition->>'start_in_s')::double precision as seconds from job_definitions where job_id = any(${ids}::bigint[])
    )
    update commit_statuses set status = 'scheduled', scheduled_at = now() + make_interval(secs => seconds) from delays
     where id = job_id returning id, seconds`.execute(tx);
  for (const { id, seconds } of rows)
    await delayedJobs.enqueue(tx, { job_id: id }, { key: String(id), after_s: seconds });
}

/** What changes a job that goes on. */
const moves: Readonly<Record<Next, (tx: Database, ids: readonly number[]) => Promise<unknown>>> = {
  ready: makeReady,
  manual: (tx, ids) => change(tx, sql`status = 'manual'`, isAmongIds(ids)),
  scheduled: delay,
  skipped: (tx, ids) => change(tx, sql`status = 'skipped', finished_at = now()`, isAmongIds(ids)),
};

/**
 * Moves created jobs on, and the status of the pipeline with them.
 * @param tx a transaction that has locked the pipeline, and may have changed jobs
 * @param changed the ids of jobs that were changed before, which hooks are told of, too
 */
export async function processPipeline(
  tx: Database,
  { id, sha }: Pick<Running, 'id' | 'sha'>,
  { changed = [], isNew = false }: { changed?: readonly number[]; isNew?: boolean } = {},
): Promise<void> {
  const next = [...advance(await plannedJobs(tx, id))];
  for (const [as, jobs] of Map.groupBy(next, ([, to]) => to))
    await moves[as](
      tx,
      jobs.map(([job]) => job),
    );
  await release(tx, changed);
  const { before, after } = await refreshPipeline(tx, id);
  await tellOfJobs(tx, [...new Set([...changed, ...next.map(([job]) => job)])]);
  if (!isNew && before === after) return;
  await notifyOfPipeline(tx, id, { before, after });
  await tellOfPipeline(tx, id);
  if (isFinal(after)) await tellWaiting(tx, sha);
}

/** Jobs that were skipped are looked at again, since a job before them starts once more. */
export const forgetSkipped = (tx: Database, pipeline_id: number): Promise<number[]> =>
  change(
    tx,
    sql`status = 'created', finished_at = null`,
    sql`pipeline_id = ${pipeline_id} and status = 'skipped' and not retried`,
  );

/** Enqueued when a job of a pipeline got its resource. */
export const processAgain = processQueue.runBy(({ db, input: { pipeline_id, project_id } }) =>
  db.transaction().execute(async (tx) => {
    const still = await tx.selectFrom('pipelines').select('id').where('id', '=', pipeline_id).executeTakeFirst();
    if (still) await processPipeline(tx, await lockPipeline(tx, project_id, pipeline_id));
  }),
);

/** Enqueued when a job was delayed. */
export const startDelayed = delayedJobs.runBy(({ db, input: { job_id } }) =>
  db.transaction().execute(async (tx) => {
    const query = tx.selectFrom('commit_statuses').select(['pipeline_id', 'project_id']).where('id', '=', job_id);
    const job = await query.executeTakeFirst();
    if (!job) return;
    const pipeline = await lockPipeline(tx, job.project_id, job.pipeline_id!);
    const due = await change(
      tx,
      sql`scheduled_at = null`,
      sql`id = ${job_id} and status = 'scheduled' and scheduled_at <= now() + interval '1 second'`,
    );
    if (due.length === 0) return;
    await makeReady(tx, due);
    await processPipeline(tx, pipeline, { changed: due });
  }),
);
