/** What follows from a merge, however it came about (docs/reference/merge_requests.md#merging). */
import { theMergeRequest } from '../../../access/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import { doneTodos } from '../../activity/todos/index.ts';
import { concludeMerge } from '../../code/repository/index.ts';
import { recordStateEvent } from '../../conversation/resource_events/index.ts';

/** Added by the transaction that records a merge. Its own effects are written once, however often it runs. */
export const concludeMerges = concludeMerge.runBy(async ({ input: { merge_request_id: id }, db }) => {
  await db.transaction().execute(async (tx) => {
    const merged = await tx
      .updateTable('merge_requests')
      .set({ merge_unconcluded: false })
      .where('id', '=', id)
      .where('merge_unconcluded', '=', true)
      .returning(['project_id', 'merge_user_id', 'merged_at'])
      .$narrowType<{ merged_at: string }>()
      .executeTakeFirst();
    if (!merged) return;
    const { project_id, merge_user_id: author_id, merged_at: created_at } = merged;
    const on = theMergeRequest(id);
    await recordStateEvent(tx, on, { user_id: author_id, created_at }, 'merged');
    await recordEvent(tx, { project_id, author_id, action: 'merged', target_type: 'MergeRequest', target_id: id, created_at });
    if (author_id !== null) await doneTodos(tx, on, author_id);
  });
});
