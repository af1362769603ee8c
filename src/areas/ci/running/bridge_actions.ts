/** What follows from bridges among the jobs of a pipeline (docs/reference/pipelines.md#bridges). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, isAmong } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';

/** Starts what a bridge starts. Files of jobs, which may be its configuration, are not known here. */
export const startBridgeQueue = queueOf('start_bridge', { input: { job_id: Id }, retries: 5 });

/** Cancels a child whose bridge or parent was canceled. */
export const cancelChildQueue = queueOf('cancel_child_pipeline', {
  input: { pipeline_id: Id, project_id: Id },
  retries: 5,
});

/**
 * Cancels the children of a pipeline soon.
 * @param tx the transaction that cancels jobs of it
 * @param which a predicate on rows of `pipelines`
 */
export async function cancelChildren(tx: Database, parent_id: number, which: RawBuilder<SqlBool>): Promise<void> {
  const { rows } = await sql<{ pipeline_id: number; project_id: number }>`
    select id as pipeline_id, project_id from pipelines
     where parent_id = ${parent_id} and status not in ('success', 'failed', 'canceled', 'skipped') and ${which} order by id`.execute(
    tx,
  );
  await cancelChildQueue.enqueueEach(tx, rows);
}

/** A predicate on rows of `pipelines`: some jobs have started them. */
export const isStartedBy = (job_ids: readonly number[]): RawBuilder<SqlBool> => sql`
  exists (select from bridges where bridges.pipeline_id = pipelines.id and has_started and ${isAmong('bridges.job_id', job_ids, 'bigint[]')})`;

/** The children of a pipeline, and theirs, the lowest first. */
export async function descendantsOf(db: Database, id: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    with recursive below(id, depth) as (
      select id, 1 from pipelines where parent_id = ${id}
      union all select pipelines.id, depth + 1 from pipelines join below on parent_id = below.id
    ) select id from below order by depth desc, id`.execute(db);
  return rows.map((row) => row.id);
}
