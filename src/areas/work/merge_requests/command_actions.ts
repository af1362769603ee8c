/** The operations of quick actions on merge requests. */
import { type PlacedIssuable, projectOf, theMergeRequest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Acting, CommandChanges, Operations } from '../../conversation/quick_actions/index.ts';
import { ownOperations, timeOperations } from '../issuables/index.ts';
import { type MergeRequestChanges, updateMergeRequest } from './change_actions.ts';

/** The edits that merge requests support. */
function changesOf(changes: CommandChanges): MergeRequestChanges {
  const { title, state_event, discussion_locked, labels, add_labels, remove_labels, milestone_id } = changes;
  const { assignee_ids, reviewer_ids, review_again_ids, target_branch } = changes;
  return {
    ...{ title, state_event, discussion_locked, labels, add_labels, remove_labels, milestone_id },
    ...{ assignee_ids, reviewer_ids, review_again_ids, target_branch },
  };
}

/**
 * The operations of quick actions on a merge request.
 * @param tx the transaction that stores the text of the commands
 */
export const mergeRequestOperations = (tx: Database, acting: Acting, { id, in: place }: PlacedIssuable): Operations => ({
  update: (changes) => updateMergeRequest(tx, acting, projectOf(place), id, changesOf(changes)),
  ...ownOperations(tx, acting, theMergeRequest(id)),
  ...timeOperations(tx, acting, theMergeRequest(id)),
});
