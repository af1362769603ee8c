/** Complete changes to epics, including the quick actions in their descriptions. */
import { epicKind, type Group, theEpic } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { noteMentions } from '../../conversation/notes/index.ts';
import {
  type Acting,
  applyCommands,
  changeWithCommands,
  extractCommands,
} from '../../conversation/quick_actions/index.ts';
import { labelsAfter } from '../../planning/labels/index.ts';
import { insertIssuable } from '../issuables/creation_actions.ts';
import { changeEpic, changeParent, checkDates, columnsGiven, type EpicChanges } from './change_actions.ts';
import { epicNoun } from './noteable.ts';

export interface NewEpic extends Omit<EpicChanges, 'state_event' | 'updated_at'> {
  title: string;
  created_at?: string | undefined;
}

async function insertEpic(
  tx: Database,
  { caller }: Acting,
  group_id: number,
  epic: NewEpic,
  label_ids: readonly number[],
): Promise<{ id: number; iid: number }> {
  const {
    start_date_is_fixed = false,
    start_date_fixed = null,
    due_date_is_fixed = false,
    due_date_fixed = null,
  } = epic;
  checkDates({ start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed });
  const { id: author_id } = caller;
  const { created_at } = epic;
  const columns = columnsGiven(epic);
  return insertIssuable(tx, epicKind, { place_id: group_id, columns, author_id, label_ids, created_at, is_news: true });
}

/**
 * Creates an epic, with all effects.
 * @param tx a transaction
 * @param group the caller is a member who may create epics
 * @throws ApiError 400 with the reasons by field
 */
export async function createEpic(
  tx: Database,
  acting: Acting,
  group: Group,
  epic: NewEpic,
): Promise<{ id: number; iid: number }> {
  const { text, commands } = await extractCommands(epic.description ?? '', epicNoun.quickActions);
  const description = epic.description && text;
  const labels = await labelsAfter(tx, { group_id: group.id }, [], epic, { create: true, plan: acting.plan });
  const label_ids = labels.map(({ id }) => id);
  const added = await insertEpic(tx, acting, group.id, { ...epic, description }, label_ids);
  if (description)
    await noteMentions(tx, { actor: acting.caller, noteable: theEpic(added.id), text: description, url: acting.url });
  if (epic.parent_id) await changeParent(tx, acting, added.id, epic.parent_id);
  const on = { ...added, kind: epicKind, in: { group }, access_level: group.access_level };
  if (commands.length > 0) await applyCommands(tx, epicNoun.quickActions, { ...acting, on, is_new: true }, commands);
  return added;
}

/**
 * Changes an epic, with all effects: system notes, resource events, activity events and to-do items. A value that stays the same has no effects and is not a change.
 * @param tx the transaction of the change, which locks the epic
 * @param group the group of the epic, with the caller's level in it
 * @throws ApiError 400 with the reasons by field, 404 if it is deleted
 */
export function updateEpic(
  tx: Database,
  acting: Acting,
  group: Group,
  { id, iid }: { id: number; iid: number },
  changes: EpicChanges,
): Promise<void> {
  const on = { id, iid, kind: epicKind, in: { group }, access_level: group.access_level };
  return changeWithCommands(tx, epicNoun.quickActions, { ...acting, on }, changes, (given) =>
    changeEpic(tx, acting, group, id, given),
  );
}
