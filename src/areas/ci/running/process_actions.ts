/** Moves the jobs of a pipeline on, with all that follows from it in the same transaction (docs/reference/pipelines.md#who-goes-next). */
import { type RawBuilder, sql } from 'kysely';
import { type Database, repeated } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { reportTypes } from '../../../security_reports/index.ts';
import { tellWaiting } from '../../code/commit_statuses/index.ts';
import { isFinal, notifyOfPipeline, refreshPipeline, tellOfJobs, tellOfPipeline } from '../../code/pipelines/index.ts';
import { startBridgeQueue } from './bridge_actions.ts';
import { admitted, followJobs, planDeployments, type Starting } from './deployment_actions.ts';
import { lockPipeline, plannedJobs, type Running } from './queries.ts';
import { advance, isNewestFirst, type Next, occupying, type ProcessMode, upcoming } from './rules.ts';

/** Starts the delayed jobs of a pipeline whose time has come. */
const delayedJobs = queueOf('start_delayed_jobs', { input: { pipeline_id: Id, project_id: Id }, retries: 3 });

/** Moves the jobs of a pipeline on after a job of it was changed in a transaction that has not locked it: it got its resource, or a runner took it. */
const processQueue = queueOf('process_pipeline', { input: { pipeline_id: Id, project_id: Id }, retries: 3 });

/** The kinds of reports that say something about the project. */
export const takenReports = ['cyclonedx', ...reportTypes] as const;

/** Takes what the jobs of a pipeline report about the project. Files of jobs are not known here. */
export const takeReportsQueue = queueOf('take_reports', { input: { pipeline_id: Id }, retries: 5 });

async function takeReportsOf(tx: Database, pipeline_id: number): Promise<void> {
  const { rows } = await sql`
    select where exists (select from job_artifacts join commit_statuses job on job.id = job_artifacts.job_id
                          where job.pipeline_id = ${pipeline_id} and not job.retried and file_type = any(${[...takenReports]}))
              or exists (select from dependency_files known join pipelines on pipelines.project_id = known.project_id
                          where pipelines.id = ${pipeline_id} and known.job_id is not null)
              or exists (select from vulnerability_findings known join pipelines on pipelines.project_id = known.project_id where pipelines.id = ${pipeline_id})`.execute(
    tx,
  );
  if (rows.length > 0) await takeReportsQueue.enqueue(tx, { pipeline_id });
}

/** Looks at a pipeline again, soon. */
export const processAgainLater = (db: Database, pipeline: { pipeline_id: number; project_id: number }) =>
  processQueue.enqueue(db, pipeline);

const isAmongIds = (ids: readonly number[]) => sql`id = any(${ids}::bigint[])`;

/** @returns the ids of the jobs that were changed */
async function change(tx: Database, set: RawBuilder<unknown>, where: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`update commit_statuses set ${set} where ${where} returning id`.execute(tx);
  return rows.map(({ id }) => id);
}

/**
 * Makes jobs available to runners, and lets bridges start what they start.
 * @param where a predicate on rows of `commit_statuses`
 */
async function queue(tx: Database, where: RawBuilder<unknown>) {
  const { rows } = await sql<{ id: number; pipeline_id: number; project_id: number; kind: string }>`
    update commit_statuses set status = 'pending', queued_at = now(), scheduled_at = null where ${where}
    returning id, pipeline_id, project_id, kind`.execute(tx);
  const bridges = rows.flatMap(({ id, kind }) => (kind === 'bridge' ? [{ job_id: id }] : []));
  await startBridgeQueue.enqueueEach(tx, bridges);
  return rows;
}

/**
 * Hands the resource of a group to the next job that waits for it, unless a job has it.
 * @param tx a transaction in which no other group is locked
 */
export async function handOn(tx: Database, group_id: number): Promise<void> {
  const group = await tx
    .selectFrom('resource_groups')
    .select((q) => q.ref('process_mode').$castTo<ProcessMode>().as('process_mode'))
    .where('id', '=', group_id)
    .forUpdate()
    .executeTakeFirst();
  const isTaken = sql`exists (select from commit_statuses where resource_group_id = ${group_id} and status in (${sql.join(occupying)}))`;
  const mode = group?.process_mode ?? 'unordered';
  const order = sql.raw(isNewestFirst(mode) ? 'desc' : 'asc');
  const given = await queue(
    tx,
    sql`not ${isTaken} and status = 'waiting_for_resource' and id = (
      select id from commit_statuses where resource_group_id = ${group_id} and status in (${sql.join([...upcoming(mode)])})
       order by pipeline_id ${order}, status = 'waiting_for_resource' desc, id limit 1 for update)`,
  );
  if (given.length === 0) return;
  await tellOfJobs(
    tx,
    given.map(({ id }) => id),
  );
  await processQueue.enqueueEach(
    tx,
    given.map(({ pipeline_id, project_id }) => ({ pipeline_id, project_id })),
  );
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
 * Lets jobs start; those of a resource group wait for the resource. A job that may not deploy now fails, or waits for a person.
 * @param ids of jobs that are not final
 * @returns how many are ready, or wait for a resource
 * @throws ApiError if a person starts a job that they may not start now
 */
export async function makeReady(tx: Database, ids: readonly number[], starting?: Starting): Promise<number> {
  const ready = await admitted(tx, ids, starting);
  await queue(tx, sql`${isAmongIds(ready)} and resource_group_id is null`);
  const groups = await groupsOf(tx, ready);
  if (groups.length === 0) return ready.length;
  await change(
    tx,
    sql`status = 'waiting_for_resource', scheduled_at = null`,
    sql`${isAmongIds(ready)} and resource_group_id is not null`,
  );
  for (const group of groups) await handOn(tx, group);
  return ready.length;
}

/** Hands on the resources of jobs that have ended. */
async function release(tx: Database, ids: readonly number[]): Promise<void> {
  for (const group of await groupsOf(tx, ids)) await handOn(tx, group);
}

async function delay(tx: Database, ids: readonly number[]): Promise<number> {
  await sql`
    update commit_statuses
       set status = 'scheduled', scheduled_at = now() + make_interval(secs => (definition->>'start_in_s')::double precision)
      from job_definitions where id = job_id and ${isAmongIds(ids)}`.execute(tx);
  return ids.length;
}

/** Comes back to a pipeline when the first of its delayed jobs starts. */
async function awaitDelayed(tx: Database, { id, project_id }: Pick<Running, 'id' | 'project_id'>): Promise<void> {
  const { rows } = await sql<{ seconds: number | null }>`
    select extract(epoch from min(scheduled_at) - now())::double precision as seconds from commit_statuses
     where pipeline_id = ${id} and status = 'scheduled' and not retried`.execute(tx);
  const seconds = rows[0]!.seconds;
  if (seconds !== null)
    await delayedJobs.enqueue(tx, { pipeline_id: id, project_id }, { after_s: Math.max(0, seconds) });
}

const become = async (tx: Database, ids: readonly number[], set: RawBuilder<unknown>): Promise<number> =>
  (await change(tx, set, isAmongIds(ids))).length;

/** What changes jobs that go on; each gives the number of those that do. */
const moves: Readonly<Record<Next, (tx: Database, ids: readonly number[]) => Promise<number>>> = {
  ready: makeReady,
  manual: (tx, ids) => become(tx, ids, sql`status = 'manual'`),
  scheduled: delay,
  skipped: (tx, ids) => become(tx, ids, sql`status = 'skipped', finished_at = now()`),
};

/**
 * Moves created jobs on, and the status of the pipeline with them.
 * @param tx a transaction that has locked the pipeline, and may have changed jobs
 * @param changed the ids of jobs that were changed before, which hooks are told of, too
 */
export async function processPipeline(
  tx: Database,
  { id, project_id, sha }: Pick<Running, 'id' | 'project_id' | 'sha'>,
  { changed = [], isNew = false }: { changed?: readonly number[]; isNew?: boolean } = {},
): Promise<void> {
  if (isNew) await planDeployments(tx, id);
  const next: [number, Next][] = [];
  for (let isSettled = false; !isSettled; ) {
    const found = [...advance(await plannedJobs(tx, id))];
    isSettled = true;
    for (const [as, jobs] of Map.groupBy(found, ([, to]) => to)) {
      const moved = jobs.map(([job]) => job);
      // A job that is not ready after all decides on later ones in its turn.
      if ((await moves[as](tx, moved)) < moved.length) isSettled = false;
    }
    next.push(...found);
  }
  if (next.some(([, as]) => as === 'scheduled')) await awaitDelayed(tx, { id, project_id });
  // In some modes a job that is left out lets others have the resource.
  await release(tx, [...changed, ...next.flatMap(([job, as]) => (as === 'skipped' || as === 'manual' ? [job] : []))]);
  const { before, after } = await refreshPipeline(tx, id);
  const moved = [...new Set([...changed, ...next.map(([job]) => job)])];
  await followJobs(tx, moved);
  await tellOfJobs(tx, moved);
  if (!isNew && before === after) return;
  await notifyOfPipeline(tx, id, { before, after });
  await tellOfPipeline(tx, id);
  if (after === 'success') await takeReportsOf(tx, id);
  if (isFinal(after)) await tellWaiting(tx, sha);
}

/** Jobs that were skipped are looked at again, since a job before them starts once more. */
export const forgetSkipped = (tx: Database, pipeline_id: number): Promise<number[]> =>
  change(
    tx,
    sql`status = 'created', finished_at = null`,
    sql`pipeline_id = ${pipeline_id} and status = 'skipped' and not retried`,
  );

/** Runs work on a pipeline that may have been deleted since. */
export const onPipeline = (
  db: Database,
  { pipeline_id, project_id }: { pipeline_id: number; project_id: number },
  work: (tx: Database, pipeline: Running) => Promise<void>,
): Promise<void> =>
  repeated(db, async (tx) => {
    const still = await tx.selectFrom('pipelines').select('id').where('id', '=', pipeline_id).executeTakeFirst();
    if (still) await work(tx, await lockPipeline(tx, project_id, pipeline_id));
  });

/** Enqueued when a job of a pipeline got its resource. */
export const processAgain = processQueue.runBy(({ db, input }) => onPipeline(db, input, processPipeline));

/** Enqueued when jobs of a pipeline were delayed, for the first of them. */
export const startDelayed = delayedJobs.runBy(({ db, input }) =>
  onPipeline(db, input, async (tx, pipeline) => {
    const due = await change(
      tx,
      sql`scheduled_at = null`,
      sql`pipeline_id = ${pipeline.id} and status = 'scheduled' and not retried and scheduled_at <= now()`,
    );
    if (due.length > 0) {
      await makeReady(tx, due);
      await processPipeline(tx, pipeline, { changed: due });
    }
    await awaitDelayed(tx, pipeline);
  }),
);
