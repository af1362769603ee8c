/** Reporting the status of a commit. */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { lockCommit, pipelineFor, refreshPipeline } from '../pipelines/actions.ts';
import { tellOfJobs, tellOfPipeline } from '../pipelines/hook_actions.ts';
import { notifyOfPipeline } from '../pipelines/notification_actions.ts';
import { isFinal, type ReportedState } from '../pipelines/rules.ts';
import { transitionRefusal } from './rules.ts';

export interface Report {
  project: { id: number };
  caller: { id: number };
  sha: string;
  ref: string;
  /** Whether the ref is a tag. */
  tag: boolean;
  name: string;
  state: ReportedState;
  /** Omitted members keep their values. */
  target_url?: string;
  description?: string;
  coverage?: number;
}

/** The caller's unfinished status that this report updates. */
async function openReport(tx: Database, { project, caller, sha, ref, name }: Report) {
  const row = await tx
    .selectFrom('commit_statuses')
    .select(['id', 'status'])
    .where('project_id', '=', project.id)
    .where('sha', '=', sha)
    .where('ref', '=', ref)
    .where('name', '=', name)
    .where('kind', '=', 'status')
    .where('retried', '=', false)
    .where('user_id', '=', caller.id)
    .where('status', 'in', ['pending', 'running'])
    .executeTakeFirst();
  return row && { id: row.id, status: row.status as 'pending' | 'running' };
}

/** The columns that follow from a state. */
const stateColumns = (state: ReportedState) => ({
  status: state,
  ...(state === 'running' ? { started_at: sql<string>`now()` } : {}),
  ...(isFinal(state) ? { finished_at: sql<string>`now()` } : {}),
});

/** Inserts a status, which replaces an earlier one of the same name. */
async function begin(tx: Database, report: Report, pipeline_id: number): Promise<number> {
  const { project, caller, sha, ref, name, state, target_url, description, coverage } = report;
  await tx
    .updateTable('commit_statuses')
    .set({ retried: true })
    .where('project_id', '=', project.id)
    .where('sha', '=', sha)
    .where('ref', '=', ref)
    .where('name', '=', name)
    .where('kind', '=', 'status')
    .where('retried', '=', false)
    .execute();
  const values = { project_id: project.id, user_id: caller.id, sha, ref, name, target_url, description, coverage };
  const { id } = await tx
    .insertInto('commit_statuses')
    .values({ ...values, pipeline_id, ...stateColumns(state) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** Merge requests may be waiting for a status of this commit. A higher area runs the job. */
export const mergeWhenReady = queueOf('merge_when_ready', { input: { sha: Type.String() }, retries: 3 });

/** The most auto-merges that are rechecked at once; others are rechecked by later events. */
const maximumWoken = 1_000;

/** Rechecks the project's pending auto-merges, or just one. */
export async function retryWaiting(
  tx: Database,
  { project_id, merge_request_id = null }: { project_id: number; merge_request_id?: number | null },
): Promise<void> {
  const { rows } = await sql<{ sha: string }>`
    select distinct head_commit_id as sha from merge_requests
     where auto_merge_user_id is not null and state = 'opened' and head_commit_id is not null and project_id = ${project_id}
       and (${merge_request_id}::bigint is null or id = ${merge_request_id}) limit ${sql.lit(maximumWoken)}`.execute(
    tx,
  );
  await mergeWhenReady.enqueueEach(tx, rows);
}

/**
 * Rechecks the pending auto-merges of several projects.
 * @param project_ids a query of their ids
 */
export async function retryWaitingIn(tx: Database, project_ids: RawBuilder<unknown>): Promise<void> {
  const { rows } = await sql<{ sha: string }>`
    select distinct head_commit_id as sha from merge_requests
     where auto_merge_user_id is not null and state = 'opened' and head_commit_id is not null and project_id in (${project_ids})
     limit ${sql.lit(maximumWoken)}`.execute(tx);
  await mergeWhenReady.enqueueEach(tx, rows);
}

/** Lets merge requests be merged that wait for the pipeline of a commit. */
export async function tellWaiting(tx: Database, sha: string): Promise<void> {
  const waiting = tx
    .selectFrom('merge_requests')
    .select('id')
    .where('head_commit_id', '=', sha)
    .where('auto_merge_user_id', 'is not', null);
  if (await waiting.limit(1).executeTakeFirst()) await mergeWhenReady.enqueue(tx, { sha });
}

/** @returns the id of the status */
async function write(tx: Database, report: Report, open: { id: number } | undefined, pipeline_id: number) {
  if (!open) return begin(tx, report, pipeline_id);
  const { state, target_url, description, coverage } = report;
  await tx
    .updateTable('commit_statuses')
    .set({ ...stateColumns(state), target_url, description, coverage, pipeline_id })
    .where('id', '=', open.id)
    .execute();
  return open.id;
}

/**
 * Updates the caller's status of this name, or creates one, and with it the pipeline of its commit and ref.
 * @returns its id
 * @throws ApiError 400 when the status cannot change to that state
 */
export function reportStatus(db: Database, report: Report): Promise<number> {
  const { project, caller, sha, ref, tag, state } = report;
  const place = { project_id: project.id, user_id: caller.id, sha, ref, tag };
  return db.transaction().execute(async (tx) => {
    await lockCommit(tx, place);
    const open = await openReport(tx, report);
    const refusal = transitionRefusal(open?.status ?? 'created', state);
    if (refusal !== undefined) throw badRequest(refusal);
    await tellWaiting(tx, sha);
    const pipeline = await pipelineFor(tx, place, state);
    const id = await write(tx, report, open, pipeline.id);
    const change = await refreshPipeline(tx, pipeline.id);
    // A pipeline starts with the state of its first report.
    const before = pipeline.isNew ? 'pending' : change.before;
    await notifyOfPipeline(tx, pipeline.id, { before, after: change.after });
    await tellOfJobs(tx, [id]);
    if (pipeline.isNew || change.before !== change.after) await tellOfPipeline(tx, pipeline.id);
    return id;
  });
}
