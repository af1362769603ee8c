/** Deleting groups. A group is marked first, can be restored for some days, and is then deleted by a job with everything in it. */
import type { Group } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { endPolicies } from '../../code/security_policies/index.ts';
import { type Deletion, groupDeletion, markOrRemove, removeDue, unmark } from '../../people/namespaces/index.ts';
import { updateGroup } from './actions.ts';

/**
 * Marks a group for deletion, or schedules the immediate deletion of a marked one.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 404 when it no longer exists, 400 when it is already marked or cannot be deleted immediately, 412 when it changed after `unmodified_since`
 */
export async function endGroup(tx: Database, group: Group, deletion: Deletion): Promise<void> {
  if (deletion.permanently_remove && group.parent_id === null)
    throw badRequest('`permanently_remove` option is only available for subgroups.');
  await endPolicies(tx, { project_id: null, group_id: group.id }, 'deleted');
  await markOrRemove(tx, groupDeletion, group, deletion);
}

/**
 * Restores a group that is marked for deletion, with its former name and path.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 400 when it is not marked itself, or when its name or path has been taken
 */
export const restoreGroup = async (tx: Database, group_id: number): Promise<void> =>
  updateGroup(tx, group_id, await unmark(tx, groupDeletion, group_id));

/** Every hour: schedules the deletion of groups whose restore period has ended, each by a job of its own. */
export const removeMarkedGroups = job('remove_marked_groups', {
  input: {},
  retries: 2,
  schedule: '47 * * * *',
  run: ({ db }) => removeDue(db, groupDeletion),
});
