/** Resolving threads of a merge request, and auto-merges that wait for it (docs/reference/merge_requests.md#threads). */
import { type Issuable, levels, type OnIssuable } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { mergeWhenReady } from '../../../code/commit_statuses/index.ts';

/** Whether a caller who may read a merge request may resolve its threads: Developers and above, and its author. */
export async function mayResolveThreads(db: Database, { caller, on }: OnIssuable): Promise<boolean> {
  if (on.access_level >= levels.developer) return true;
  const own = db.selectFrom('merge_requests').select('id').where('id', '=', on.id).where('author_id', '=', caller.id);
  return (await own.executeTakeFirst()) !== undefined;
}

/** Rechecks an auto-merge that may have waited for the threads. */
export async function mergeWithoutThreads(tx: Database, { id }: Issuable): Promise<void> {
  const waiting = await tx
    .selectFrom('merge_requests')
    .select('head_commit_id')
    .where('id', '=', id)
    .where('state', '=', 'opened')
    .where('auto_merge_user_id', 'is not', null)
    .executeTakeFirst();
  if (waiting?.head_commit_id) await mergeWhenReady.enqueue(tx, { sha: waiting.head_commit_id });
}
