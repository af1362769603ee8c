/** Removes the refs of deleted merge requests (docs/reference/merge_requests.md#versions). */
import { Type } from 'typebox';
import { mergeRequestRef, refRetries } from '../../../../git/index.ts';
import { Id } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';
import { keepRefs } from '../../../code/repository/index.ts';

/**
 * Enqueued by the transaction that deletes a merge request; its number is never reused. Retried until the refs are gone, also after a crash. Commits stay if other refs may need
 * them.
 */
export const removeMergeRequestRefs = job('remove_merge_request_refs', {
  input: { project_id: Id, merge_request_iid: Type.Integer() },
  retries: refRetries,
  run: async ({ input: { project_id, merge_request_iid: iid }, db, storages }) => {
    const project = await db
      .selectFrom('projects')
      .select(['id', 'storage'])
      .where('id', '=', project_id)
      .executeTakeFirst();
    if (!project) return;
    const refs = [mergeRequestRef(iid, 'head'), mergeRequestRef(iid, 'merge')];
    await db
      .transaction()
      .execute((tx) => keepRefs(tx, { storages }, project, new Map(refs.map((ref) => [ref, null]))));
  },
});
