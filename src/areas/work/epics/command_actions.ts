/** The operations of quick actions on epics. */
import { groupOf, type PlacedIssuable, theEpic } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Acting, CommandChanges, Operations } from '../../conversation/quick_actions/index.ts';
import { ownOperations } from '../issuables/command_actions.ts';
import { changeEpic, type EpicChanges } from './change_actions.ts';
import { adopt, setParent } from './parent_actions.ts';

/** The edits that epics support. */
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

/** @returns whether the child was removed from its parent */
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
 * The operations of quick actions on an epic.
 * @param tx the transaction that stores the text of the commands
 */
export const epicOperations = (
  tx: Database,
  acting: Acting,
  { id: epic_id, in: place }: PlacedIssuable,
): Operations => ({
  update: (changes) => changeEpic(tx, acting, groupOf(place), epic_id, changesOf(changes)),
  ...ownOperations(tx, acting, theEpic(epic_id)),
  setChild: async (child_id, isChild) =>
    isChild
      ? (await adopt(tx, acting.caller, child_id, epic_id)) === undefined
      : release(tx, acting, epic_id, child_id),
});
