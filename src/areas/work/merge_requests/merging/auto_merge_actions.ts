/** Auto-merge: merging as soon as the commit statuses have succeeded (docs/reference/merge_requests.md#auto-merge). */
import { sql } from 'kysely';
import { theMergeRequest } from '../../../../access/index.ts';
import { type Database, repeated } from '../../../../db/index.ts';
import { ApiError, notAllowed } from '../../../../http/index.ts';
import { addNotification } from '../../../activity/notifications/index.ts';
import { addSystemNote } from '../../../conversation/notes/index.ts';
import { noAutoMergeText } from '../rules.ts';

/**
 * Schedules the auto-merge of a merge request at this head of its source branch.
 * @throws ApiError 405 if it is no longer open
 */
export async function setAutoMerge(
  db: Database,
  { caller, merge_request_id: id, wishes }: { caller: { id: number }; merge_request_id: number; wishes: object },
  sha: string,
): Promise<void> {
  await repeated(db, async (tx) => {
    const set = await tx
      .updateTable('merge_requests')
      .set({
        auto_merge_user_id: caller.id,
        auto_merge_parameters: JSON.stringify({ ...wishes, sha }),
        updated_at: sql`now()`,
      })
      .where('id', '=', id)
      .where('state', '=', 'opened')
      .returning('id')
      .executeTakeFirst();
    if (!set) throw notAllowed();
    await addSystemNote(
      tx,
      theMergeRequest(id),
      caller.id,
      `enabled an automatic merge when all merge checks for ${sha} pass`,
    );
    const news = { target_type: 'MergeRequest', target_id: id, actor_id: caller.id, user_ids: [] };
    await addNotification(tx, { ...news, event: 'merge_when_pipeline_succeeds' });
  });
}

/**
 * Cancels the auto-merge.
 * @param note the text of the system note
 * @throws ApiError 405 if it is not open, 406 if no auto-merge is set
 */
export async function cancelAutoMerge(db: Database, id: number, user_id: number, note: string): Promise<void> {
  await repeated(db, async (tx) => {
    const row = await tx
      .selectFrom('merge_requests')
      .select(['state', 'auto_merge_user_id'])
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (row?.state !== 'opened') throw notAllowed();
    if (row.auto_merge_user_id === null) throw new ApiError(406, { message: noAutoMergeText });
    await tx
      .updateTable('merge_requests')
      .set({ auto_merge_user_id: null, auto_merge_parameters: null, updated_at: sql`now()` })
      .where('id', '=', id)
      .execute();
    await addSystemNote(tx, theMergeRequest(id), user_id, note);
  });
}
