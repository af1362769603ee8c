/** Complete changes of epics: what is asked for, and the quick actions in their descriptions. */
import type { Updateable } from 'kysely';
import type { Group } from '../../../access/index.ts';
import { type Database, type DB, nextIid } from '../../../db/index.ts';
import { applyCommands, extractCommands } from '../../conversation/quick_actions/index.ts';
import { labelsAfter } from '../../planning/labels/index.ts';
import { changeEpic, changeParent, checkDates, columnsGiven, type EpicChanges, writeLabels } from './change_actions.ts';
import { epicOperations } from './command_actions.ts';
import { type Acting, recordCreation } from './effects.ts';

export interface NewEpic extends Omit<EpicChanges, 'state_event' | 'updated_at'> {
  title: string;
  created_at?: string | undefined;
}

/** The text without its quick actions, which are done when the text is written. */
function textOf(description: string | null | undefined) {
  const { text, commands } = extractCommands(description ?? '');
  return { description: description && text, commands };
}

async function insertEpic(
  tx: Database,
  { caller }: Acting,
  group_id: number,
  epic: NewEpic,
): Promise<{ id: number; iid: number }> {
  const columns = columnsGiven(epic) as Updateable<DB['epics']>;
  const { start_date_is_fixed = false, start_date_fixed = null, due_date_is_fixed = false, due_date_fixed = null } = epic;
  checkDates({ start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed });
  const times = epic.created_at === undefined ? {} : { created_at: epic.created_at, updated_at: epic.created_at };
  return tx
    .insertInto('epics')
    .values({
      ...columns,
      ...times,
      group_id,
      iid: await nextIid(tx, { namespace_id: group_id }, 'epics'),
      title: epic.title.trim(),
      author_id: caller.id,
    })
    .returning(['id', 'iid'])
    .executeTakeFirstOrThrow();
}

/**
 * Adds an epic, with everything that follows from it.
 * @param tx the transaction in which it is added
 * @param group whose members may create epics: the caller is one
 * @throws ApiError 400 with the reasons by field
 */
export async function createEpic(
  tx: Database,
  acting: Acting,
  group: Group,
  epic: NewEpic,
): Promise<{ id: number; iid: number }> {
  const { description, commands } = textOf(epic.description);
  const labels = await labelsAfter(tx, { group_id: group.id }, [], epic, { create: true, plan: acting.plan });
  const label_ids = labels.map(({ id }) => id);
  const added = await insertEpic(tx, acting, group.id, { ...epic, description });
  await writeLabels(tx, added.id, [], label_ids);
  await recordCreation(tx, acting, { epic_id: added.id, description: description ?? null, label_ids, at: epic.created_at });
  if (epic.parent_id) await changeParent(tx, acting, added.id, epic.parent_id);
  const target = { ...acting, on: { group, epic_id: added.id }, is_new: true };
  if (commands.length > 0) await applyCommands(tx, target, commands, epicOperations(tx, acting, group, added.id));
  return added;
}

/**
 * Changes an epic, with everything that is noted of a change: in words, as events, in lists of activity and of what is to be done. What stays as it is is not
 * noted, and does not count as a change.
 * @param tx the transaction of the change; in it the epic cannot be changed by anybody else
 * @param group whose epic it is, with the caller's level in it
 * @throws ApiError 400 with the reasons by field, 404 when it is gone
 */
export async function updateEpic(
  tx: Database,
  acting: Acting,
  group: Group,
  epic_id: number,
  changes: EpicChanges,
): Promise<void> {
  if (!changes.description) return changeEpic(tx, acting, group, epic_id, changes);
  const { description, commands } = textOf(changes.description);
  await changeEpic(tx, acting, group, epic_id, { ...changes, description });
  const target = { ...acting, on: { group, epic_id }, is_new: false };
  if (commands.length > 0) await applyCommands(tx, target, commands, epicOperations(tx, acting, group, epic_id));
}
