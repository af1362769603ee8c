/** The operations of quick actions on merge requests. */
import { type PlacedIssuable, type Project, projectOf, theMergeRequest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  type Acting,
  allOrNothing,
  type CommandChanges,
  type Operations,
} from '../../conversation/quick_actions/index.ts';
import { ownOperations, timeOperations, unlessRefused } from '../issuables/command_actions.ts';
import { mergeRequestHook } from '../issuables/hooks/merge_request_present.ts';
import { approveMergeRequest, unapproveMergeRequest } from './approvals/actions.ts';
import { factsOf } from './branch_queries.ts';
import { changeMergeRequest, type MergeRequestChanges } from './change_actions.ts';
import { mayMerge } from './merging/actions.ts';
import { mergeByCommand } from './merging/jobs.ts';
import { rebaseMergeRequest } from './merging/rebase_actions.ts';
import { stateBlocker } from './merging/status_rules.ts';
import { type Publishing, publishReview, stateReview } from './reviews/review_actions.ts';

/** The edits that merge requests support. */
function changesOf(changes: CommandChanges): MergeRequestChanges {
  const { title, state_event, discussion_locked, labels, add_labels, remove_labels, milestone_id } = changes;
  const { assignee_ids, reviewer_ids, review_again_ids, target_branch } = changes;
  return {
    title,
    state_event,
    discussion_locked,
    labels,
    add_labels,
    remove_labels,
    milestone_id,
    assignee_ids,
    reviewer_ids,
    review_again_ids,
    target_branch,
  };
}

/** Operations with the same refusals as their endpoints. */
function mergingOperations(
  tx: Database,
  { caller, storages }: Acting,
  project: Project,
  id: number,
): Pick<Operations, 'approve' | 'merge' | 'rebase'> {
  return {
    approve: (approves) =>
      unlessRefused(
        (approves ? approveMergeRequest : unapproveMergeRequest)(tx, {
          project,
          caller,
          merge_request_id: id,
          storages,
        }),
      ),
    merge: async () => {
      const facts = await factsOf(tx, id);
      if (stateBlocker(facts) || facts.head_commit_id === null) return false;
      if (project.read_only || !(await mayMerge({ db: tx }, project, caller, facts.target_branch))) return false;
      await mergeByCommand.enqueue(tx, { merge_request_id: id, user_id: caller.id, sha: facts.head_commit_id });
      return true;
    },
    rebase: async () => unlessRefused(rebaseMergeRequest({ db: tx, storages }, caller, await factsOf(tx, id))),
  };
}

function reviewOperations(
  tx: Database,
  acting: Acting,
  on: PlacedIssuable,
  noun: Publishing['noun'],
): Pick<Operations, 'requestChanges' | 'submitReview'> {
  const { caller } = acting;
  return {
    requestChanges: () => stateReview(tx, acting, { caller, on }, 'requested_changes'),
    submitReview: async (reviewer_state) => {
      const row = tx.selectFrom('merge_requests').select('discussion_locked').where('id', '=', on.id);
      const locked = (await row.executeTakeFirstOrThrow()).discussion_locked === true;
      const granted = { caller, on: { ...on, locked } };
      return allOrNothing(tx, () => publishReview(tx, { ...acting, noun }, granted, { reviewer_state }));
    },
  };
}

/**
 * The operations of quick actions on a merge request.
 * @param tx the transaction that stores the text of the commands
 * @param noun the noun of merge requests, which has these operations
 */
export const mergeRequestOperations = (
  tx: Database,
  acting: Acting,
  on: PlacedIssuable,
  noun: Publishing['noun'],
): Operations => {
  const { id } = on;
  const project = projectOf(on.in);
  return {
    ...mergingOperations(tx, acting, project, id),
    ...reviewOperations(tx, acting, on, noun),
    update: (changes) => changeMergeRequest(tx, acting, project, id, changesOf(changes)),
    ...ownOperations(tx, acting, theMergeRequest(id), mergeRequestHook),
    ...timeOperations(tx, acting, theMergeRequest(id)),
  };
};
