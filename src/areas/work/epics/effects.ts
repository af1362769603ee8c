/** What follows from a change to an epic, in its transaction: notes of the product, resource events, activity, to-dos and mentions. */
import type { Database } from '../../../db/index.ts';
import type { Caller, Plan } from '../../../http/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import { doneTodos } from '../../activity/todos/index.ts';
import { addSystemNote, dateChanged, descriptionChanged, noteMentions, titleChanged } from '../../conversation/notes/index.ts';
import { recordLabelEvents, recordStateEvent } from '../../conversation/resource_events/index.ts';

/** Who changes something, and what holds for him. */
export interface Acting {
  caller: Caller;
  plan: Plan;
  /** Our external address without a trailing slash. */
  url: string;
}

/** What is noted of an epic when it changes. */
export interface EpicState {
  title: string;
  description: string | null;
  state: string;
  confidential: boolean;
  start_date_is_fixed: boolean;
  start_date_fixed: string | null;
  due_date_is_fixed: boolean;
  due_date_fixed: string | null;
  label_ids: readonly number[];
}

export interface EpicChange {
  epic_id: number;
  from: EpicState;
  to: EpicState;
  /** ISO 8601; now where it is left out. */
  at: string | undefined;
}

const without = (ids: readonly number[], others: readonly number[]): number[] => ids.filter((id) => !others.includes(id));

/** Dates that are not fixed come from others, and are noted there. */
const fixedDates = ({ start_date_is_fixed, start_date_fixed, due_date_is_fixed, due_date_fixed }: EpicState) => ({
  start: start_date_is_fixed ? start_date_fixed : null,
  due: due_date_is_fixed ? due_date_fixed : null,
});

function wordsFor({ from, to }: EpicChange): string[] {
  const words: string[] = [];
  const [before, after] = [fixedDates(from), fixedDates(to)];
  if (from.title !== to.title) words.push(titleChanged(from.title, to.title));
  if (from.description !== to.description) words.push(...descriptionChanged(from.description, to.description));
  if (from.confidential !== to.confidential)
    words.push(to.confidential ? 'made the epic confidential' : 'made the epic visible to everyone');
  if (before.start !== after.start) words.push(dateChanged('start date', after.start));
  if (before.due !== after.due) words.push(dateChanged('due date', after.due));
  return words;
}

const when = (at: string | undefined) => (at === undefined ? {} : { created_at: at });

const recordActivity = (
  tx: Database,
  { caller }: Acting,
  epic_id: number,
  action: 'created' | 'closed' | 'reopened',
  at?: string,
) => recordEvent(tx, { project_id: null, author_id: caller.id, action, target_type: 'Epic', target_id: epic_id, ...when(at) });

/** Writes what follows from a new epic. */
export async function recordCreation(
  tx: Database,
  acting: Acting,
  {
    epic_id,
    description,
    label_ids,
    at,
  }: { epic_id: number; description: string | null; label_ids: readonly number[]; at: string | undefined },
): Promise<void> {
  const { caller, url } = acting;
  await recordActivity(tx, acting, epic_id, 'created', at);
  await recordLabelEvents(tx, { epic_id }, { user_id: caller.id, created_at: at }, { added: label_ids, removed: [] });
  if (description) await noteMentions(tx, { actor: caller, noteable: { epic_id }, text: description, url });
}

/** Writes what follows from a change that has been made to the rows of an epic. Nothing follows where nothing differs. */
export async function recordChange(tx: Database, acting: Acting, change: EpicChange): Promise<void> {
  const { caller, url } = acting;
  const { epic_id, from, to, at } = change;
  const [on, actor] = [{ epic_id }, { user_id: caller.id, created_at: at }];
  for (const body of wordsFor(change)) await addSystemNote(tx, on, caller.id, body, when(at));
  const labels = { added: without(to.label_ids, from.label_ids), removed: without(from.label_ids, to.label_ids) };
  await recordLabelEvents(tx, on, actor, labels);
  if (from.state !== to.state) {
    const action = to.state === 'closed' ? 'closed' : 'reopened';
    await recordStateEvent(tx, on, actor, action);
    await recordActivity(tx, acting, epic_id, action, at);
  }
  await doneTodos(tx, on, caller.id);
  if (from.description !== to.description) await noteMentions(tx, { actor: caller, noteable: on, text: to.description, url });
}
