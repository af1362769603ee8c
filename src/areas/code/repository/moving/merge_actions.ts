/** Moves of references that merge a merge request. A higher area, for merge requests, runs the jobs enqueued here. */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { refRetries } from '../../../../git/index.ts';
import { Id, nullable } from '../../../../http/index.ts';
import { queueOf } from '../../../../jobs/index.ts';
import { cleanUpAfterProjects } from '../../../people/namespaces/index.ts';

/** A move that merges a merge request. */
export interface Merge {
  merge_request_id: number;
  outcome: {
    /** The merged head of the source branch. */
    head: string;
    /** Null without a merge commit. */
    merge_commit_sha: string | null;
    /** Null without squashing. */
    squash_commit_sha: string | null;
    /** Whether to remove the source branch afterwards. */
    should_remove_source_branch: boolean | null;
  };
}

/** A project is no longer a fork. Merge requests between its fork network and projects that have left it are closed. */
export const closeForeign = queueOf('close_foreign_merge_requests', {
  input: { project_id: Id, user_id: nullable(Id) },
  retries: 5,
});

/** A merge request was merged. */
export const concludeMerge = queueOf('conclude_merge', { input: { merge_request_id: Id }, retries: refRetries });

/**
 * Locks an open merge request until its merge has ended.
 * @returns whether it was open
 */
export async function lockForMerge(tx: Database, id: number): Promise<boolean> {
  const locked = tx
    .updateTable('merge_requests')
    .set({ state: 'locked' })
    .where('id', '=', id)
    .where('state', '=', 'opened');
  return (await locked.returning('id').executeTakeFirst()) !== undefined;
}

/** Ends a merge: the merge request is merged if the branch has moved, and reopened otherwise. */
export async function endMerge(
  tx: Database,
  { merge_request_id, outcome: { head, ...commits } }: Merge,
  { user_id, has_moved }: { user_id: number | null; has_moved: boolean },
): Promise<void> {
  if (!has_moved) await reopen(tx, merge_request_id);
  else await recordMerge(tx, merge_request_id, { ...commits, head_commit_id: head, user_id });
}

/** Reopens a merge request, and enqueues the jobs that close it again if its source project was deleted or has left the fork network meanwhile. */
async function reopen(tx: Database, id: number): Promise<void> {
  const locked = tx.updateTable('merge_requests').where('id', '=', id).where('state', '=', 'locked');
  const opened = await locked
    .set({ state: 'opened' })
    .returning(['project_id', 'source_project_id'])
    .executeTakeFirst();
  if (opened?.source_project_id === null) await cleanUpAfterProjects.enqueue(tx, {});
  else if (opened && opened.source_project_id !== opened.project_id)
    await closeForeign.enqueue(tx, { project_id: opened.source_project_id, user_id: null });
}

/** Marks an open or locked merge request as merged, and enqueues the effects. */
export async function recordMerge(
  tx: Database,
  id: number,
  merged: Omit<Merge['outcome'], 'head'> & { head_commit_id: string; user_id: number | null },
): Promise<void> {
  const { user_id, ...columns } = merged;
  const { numUpdatedRows } = await tx
    .updateTable('merge_requests')
    .set({
      ...columns,
      state: 'merged',
      merge_user_id: user_id,
      merged_at: sql<string>`now()`,
      updated_at: sql<string>`now()`,
      merge_error: null,
      auto_merge_user_id: null,
      auto_merge_parameters: null,
      merge_unconcluded: true,
      merge_status: 'can_be_merged',
    })
    .where('id', '=', id)
    .where('state', 'in', ['opened', 'locked'])
    .executeTakeFirst();
  if (numUpdatedRows > 0n) await concludeMerge.enqueue(tx, { merge_request_id: id });
}
