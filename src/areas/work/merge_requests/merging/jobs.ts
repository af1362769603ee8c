/** Background jobs that conclude merges, and that merge when commit statuses have succeeded or after a quick action (docs/reference/merge_requests.md#merging). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { callerInJob, projectFor } from '../../../../access/index.ts';
import { ApiError, Id, type Services, textOf } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';
import { mergeWhenReady } from '../../../code/commit_statuses/index.ts';
import { concludeMerge } from '../../../code/repository/index.ts';
import { type MergeFacts, mergeFacts } from '../branch_queries.ts';
import { type MergeWishes, mergeMergeRequest } from './actions.ts';
import { cancelAutoMerge } from './auto_merge_actions.ts';
import { concludeMerged, keepMerge, keepQueue } from './conclusion_actions.ts';

/** Enqueued by the transaction that records a merge. */
export const concludeMerges = concludeMerge.runBy(({ input: { merge_request_id }, ...services }) =>
  concludeMerged(services, merge_request_id),
);

/** Enqueued when a merge is concluded. */
export const keepMerged = keepQueue.runBy(({ input: { merge_request_id }, ...services }) =>
  keepMerge(services, merge_request_id),
);

/** Enqueued when a commit status is reported that merge requests may be waiting for. */
export const mergeReady = mergeWhenReady.runBy(async ({ input: { sha }, log, ...services }) => {
  const waiting = await services.db
    .selectFrom('merge_requests')
    .select('id')
    .where('head_commit_id', '=', sha)
    .where('auto_merge_user_id', 'is not', null)
    .where('state', '=', 'opened')
    .orderBy('id')
    .limit(100)
    .execute();
  for (const facts of await mergeFacts(
    services.db,
    waiting.map(({ id }) => id),
  ))
    await mergeAsAsked(services, facts).catch((error: unknown) =>
      log.error({ err: error }, 'a merge request could not be merged'),
    );
});

async function mergeAsAsked(
  services: Services,
  { id, project_id, auto_merge_user_id, auto_merge_parameters }: MergeFacts,
): Promise<void> {
  const caller = await callerInJob(services, auto_merge_user_id!);
  const project = caller && (await projectFor(services.db, caller, String(project_id)));
  try {
    if (!caller || !project) throw new ApiError(401, { message: 'the user is gone' });
    const wishes = auto_merge_parameters as MergeWishes;
    await mergeMergeRequest(services, { project, caller, merge_request_id: id, wishes, auto_merge: false });
  } catch (error) {
    // 405: it keeps waiting, because statuses have failed or are missing.
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 405)
      await cancelAutoMerge(
        services.db,
        id,
        auto_merge_user_id!,
        'aborted the automatic merge because the branch cannot be merged',
      );
  }
}

/** Enqueued by the quick action `/merge`: merges a merge request for its author, or schedules its auto-merge. Failures are shown as `merge_error`. */
export const mergeByCommand = job('merge_by_command', {
  input: { merge_request_id: Id, user_id: Id, sha: Type.String() },
  retries: 3,
  run: async ({ input: { merge_request_id, user_id, sha }, log: _log, signal: _signal, ...services }) => {
    const [facts] = await mergeFacts(services.db, [merge_request_id]);
    const caller = await callerInJob(services, user_id);
    const project = facts && caller && (await projectFor(services.db, caller, String(facts.project_id)));
    if (!caller || !project) return;
    try {
      await mergeMergeRequest(services, { project, caller, merge_request_id, wishes: { sha }, auto_merge: true });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const merge_error = sql<string>`coalesce(merge_error, ${textOf(error)})`;
      await services.db
        .updateTable('merge_requests')
        .set({ merge_error })
        .where('id', '=', merge_request_id)
        .where('state', '=', 'opened')
        .execute();
    }
  },
});
