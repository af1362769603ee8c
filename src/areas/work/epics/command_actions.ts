/** What quick actions do to an epic. */
import type { Group } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { toggleAward } from '../../conversation/award_emoji/index.ts';
import type { CommandChanges, Operations } from '../../conversation/quick_actions/index.ts';
import { changeEpic, type EpicChanges } from './change_actions.ts';
import type { Acting } from './effects.ts';
import { adopt, setParent } from './parent_actions.ts';
import { setEpicSubscription } from './subscriptions.ts';

/** What of it epics know. */
function changesOf({
  title,
  state_event,
  labels,
  add_labels,
  remove_labels,
  confidential,
  parent_id,
}: CommandChanges): EpicChanges {
  return { title, state_event, labels, add_labels, remove_labels, confidential, parent_id };
}

/** @returns whether the child is gone from its parent */
async function release(tx: Database, { caller }: Acting, parent_id: number, child_id: number): Promise<boolean> {
  const child = await tx
    .selectFrom('epics')
    .select('id')
    .where('id', '=', child_id)
    .where('parent_id', '=', parent_id)
    .executeTakeFirst();
  return child !== undefined && (await setParent(tx, caller, child.id, null)) === undefined;
}

/**
 * What quick actions can do to an epic.
 * @param tx the transaction that writes the text of the commands
 * @param group that of the epic
 */
export const epicOperations = (tx: Database, acting: Acting, group: Pick<Group, 'id'>, epic_id: number): Operations => ({
  update: (changes) => changeEpic(tx, acting, group, epic_id, changesOf(changes)),
  subscribe: async (subscribed) => {
    await setEpicSubscription(tx, acting.caller.id, epic_id, subscribed);
  },
  toggleAward: (name) => toggleAward(tx, { epic_id }, acting.caller.id, name),
  setChild: async (child_id, isChild) =>
    isChild ? (await adopt(tx, acting.caller, child_id, epic_id)) === undefined : release(tx, acting, epic_id, child_id),
});
