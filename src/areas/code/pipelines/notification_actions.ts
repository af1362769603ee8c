/** Notifications of failed and succeeded pipelines (docs/reference/pipelines.md#mail). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { queueOf } from '../../../jobs/index.ts';
import { addNotification } from '../../activity/notifications/index.ts';
import { followPipeline, isWaitedFor } from './bridge_actions.ts';
import { isFinal, type State } from './rules.ts';

/** What follows when a pipeline has succeeded or failed. A higher area runs the job. */
export const pipelineEnded = queueOf('pipeline_ended', { input: { id: Id }, retries: 3 });

/** Whether the previous pipeline of the same branch or tag failed. */
async function followsFailure(tx: Database, id: number): Promise<boolean> {
  const { rows } = await sql<{ status: string }>`
    select earlier.status from pipelines
      join pipelines earlier on earlier.project_id = pipelines.project_id and earlier.ref = pipelines.ref and earlier.id < pipelines.id
           and earlier.source <> 'parent_pipeline'
     where pipelines.id = ${id} order by earlier.id desc limit 1`.execute(tx);
  return rows[0]?.status === 'failed';
}

/** Notifies the users affected by a status change, and the bridges that end with the pipeline. @param tx the transaction of the change */
export async function notifyOfPipeline(
  tx: Database,
  id: number,
  change: { before: State; after: State },
): Promise<void> {
  const { before, after } = change;
  if (after !== before && (isFinal(after) || isFinal(before))) await followPipeline(tx, id);
  if (after === before || (after !== 'failed' && after !== 'success')) return;
  const event =
    after === 'failed' ? 'failed_pipeline' : (await followsFailure(tx, id)) ? 'fixed_pipeline' : 'success_pipeline';
  await pipelineEnded.enqueue(tx, { id });
  if (!(await isWaitedFor(tx, id)))
    await addNotification(tx, { event, target_type: 'Pipeline', target_id: id, actor_id: null, user_ids: [] });
}
