/** The effects of a change, in its transaction: system notes, resource events, activity events, to-do items and mentions. */
import { sql } from 'kysely';
import type { Issuable, IssuableKind } from '../../../access/index.ts';
import { type Database, isAmong, ofAnyLength } from '../../../db/index.ts';
import type { Caller } from '../../../http/index.ts';
import { taskCompletion } from '../../../markdown/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import { addTodos, doneTodos } from '../../activity/todos/index.ts';
import {
  addSystemNote,
  dateChanged,
  descriptionChanged,
  noteMentions,
  titleChanged,
} from '../../conversation/notes/index.ts';
import type { Acting } from '../../conversation/quick_actions/index.ts';
import {
  recordIterationEvent,
  recordLabelEvents,
  recordMilestoneEvent,
  recordStateEvent,
  recordWeightEvent,
} from '../../conversation/resource_events/index.ts';
import type { Change } from './definition.ts';
import { tellOfChange } from './hooks/actions.ts';
import { tellOfMetadata, tellOfPeople } from './news_actions.ts';
import {
  assigneesChanged,
  confidentialityChanged,
  lockChanged,
  reviewersChanged,
  severityChanged,
  typeChanged,
} from './system_note_rules.ts';

const without = (ids: readonly number[] = [], others: readonly number[] = []): number[] =>
  ids.filter((id) => !others.includes(id));

/** The system notes of a change, except those about people, whose names need a lookup. */
async function wordsFor({ on: { kind }, from, to, is_new, words: own = [] }: Change): Promise<string[]> {
  const words: string[] = [];
  if (!is_new) {
    if (from.title !== to.title) words.push(titleChanged(from.title, to.title));
    if (from.description !== to.description)
      words.push(...(await descriptionChanged(from.description, to.description)));
    if (from.issue_type !== to.issue_type) words.push(typeChanged(from.issue_type!, to.issue_type!));
    if (from.confidential !== to.confidential) words.push(confidentialityChanged(kind.name, to.confidential!));
    if ((from.discussion_locked ?? false) !== (to.discussion_locked ?? false))
      words.push(lockChanged(kind.name, to.discussion_locked ?? false));
  }
  if (from.start_date !== to.start_date) words.push(dateChanged('start date', to.start_date ?? null));
  if (from.due_date !== to.due_date) words.push(dateChanged('due date', to.due_date ?? null));
  if (from.severity !== to.severity) words.push(severityChanged(to.severity!));
  words.push(...own);
  return words;
}

/** @param wording the note for the names of added and removed people */
async function wordsForPeople(
  tx: Database,
  { added, removed }: PeopleChange,
  wording: (added: readonly string[], removed: readonly string[]) => string,
): Promise<string> {
  const users = await tx
    .selectFrom('users')
    .select(['id', 'username'])
    .where(isAmong('id', [...added, ...removed], 'bigint[]'))
    .execute();
  const names = new Map(users.map(({ id, username }) => [id, username]));
  const namesOf = (ids: readonly number[]) => ids.map((id) => names.get(id)).filter((name) => name !== undefined);
  return wording(namesOf(added), namesOf(removed));
}

interface PeopleChange {
  added: number[];
  removed: number[];
}

/** Writes a system note about added and removed people, notifies them, and gives added ones a to-do item. */
async function recordPeople(
  tx: Database,
  { id: author_id }: Caller,
  { on, is_new, at }: Change,
  { added, removed }: PeopleChange,
  { wording, action }: { wording: typeof assigneesChanged; action: 'assigned' | 'review_requested' },
): Promise<void> {
  if (added.length + removed.length === 0) return;
  const body = await wordsForPeople(tx, { added, removed }, wording);
  await addSystemNote(tx, on, author_id, body, at === undefined ? {} : { created_at: at });
  if (added.length > 0) await addTodos(tx, { user_ids: added, author_id, action, target: on });
  // For a new item, the `new_issue` notification covers them already.
  if (is_new) return;
  await tellOfPeople(tx, author_id, on, action, [...added, ...removed]);
}

const difference = (from: readonly number[] | undefined, to: readonly number[] | undefined): PeopleChange => ({
  added: without(to, from),
  removed: without(from, to),
});

async function recordResourceEvents(tx: Database, caller: Caller, { on, from, to, is_new, at }: Change): Promise<void> {
  const actor = { user_id: caller.id, created_at: at };
  const labels = { added: without(to.label_ids, from.label_ids), removed: without(from.label_ids, to.label_ids) };
  // The statement that inserts a new item records its labels.
  if (!is_new) await recordLabelEvents(tx, on, actor, labels);
  const milestones = { from: from.milestone_id ?? null, to: to.milestone_id ?? null };
  if (to.state !== 'locked') await recordMilestoneEvent(tx, on, actor, milestones, to.state);
  if (from.weight !== to.weight) await recordWeightEvent(tx, on, actor, to.weight ?? null);
  const iterations = { from: from.iteration_id ?? null, to: to.iteration_id ?? null };
  if (iterations.from !== iterations.to) await recordIterationEvent(tx, on, actor, iterations);
}

async function recordState(tx: Database, caller: Caller, { on, project_id, from, to, at }: Change): Promise<void> {
  if (from.state === to.state) return;
  if (to.state === 'locked') return;
  const action = to.state === 'opened' ? 'reopened' : to.state;
  await recordStateEvent(tx, on, { user_id: caller.id, created_at: at }, action);
  await recordEvent(tx, {
    project_id,
    author_id: caller.id,
    action,
    target_type: on.kind.type,
    target_id: on.id,
    ...(at === undefined ? {} : { created_at: at }),
  });
}

/** Writes the effects of a change after its rows were updated. Without a difference there are no effects. */
export async function recordEffects(tx: Database, { caller, url }: Acting, change: Change): Promise<void> {
  const { on, from, to, is_new, at } = change;
  const when = at === undefined ? {} : { created_at: at };
  for (const body of await wordsFor(change)) await addSystemNote(tx, on, caller.id, body, when);
  await recordResourceEvents(tx, caller, change);
  await recordState(tx, caller, change);
  if (!is_new) await doneTodos(tx, on, caller.id);
  const [assignees, reviewers] = [
    difference(from.assignee_ids, to.assignee_ids),
    difference(from.reviewer_ids, to.reviewer_ids),
  ];
  await recordPeople(tx, caller, change, assignees, { wording: assigneesChanged, action: 'assigned' });
  await recordPeople(tx, caller, change, reviewers, { wording: reviewersChanged, action: 'review_requested' });
  if (!is_new)
    await tellOfMetadata(tx, caller.id, on, {
      has_other_milestone: (from.milestone_id ?? null) !== (to.milestone_id ?? null),
      added_label_ids: without(to.label_ids, from.label_ids),
    });
  if (from.description !== to.description)
    await noteMentions(tx, { actor: caller, noteable: on, text: to.description, url, is_edited: !is_new });
  await tellOfChange(tx, caller.id, change);
}

/** Column changes that every noun supports. */
interface PlainChanges {
  state_event?: 'close' | 'reopen' | undefined;
}

/**
 * The columns whose values change, with those derived from the state.
 * @param names the columns that are set without conversion
 */
export function changedColumns<C extends string>(
  names: readonly C[],
  before: Record<C, unknown> & { state: string },
  changes: PlainChanges & Partial<Record<C, unknown>>,
  closer_id: number,
) {
  const changed = names.filter((name) => changes[name] !== undefined && changes[name] !== before[name]);
  const columns = Object.fromEntries(changed.map((name) => [name, changes[name]]));
  return { ...columns, ...stateColumns(before.state, changes.state_event, closer_id) };
}

/** The columns derived from a changed description: its task counts. */
export async function taskColumns({ description }: { description?: string | null }) {
  if (description === undefined) return {};
  const { count: task_count, completed_count: completed_task_count } = await taskCompletion(description);
  return { task_count, completed_task_count };
}

/** The columns to write when closing or reopening; none if the state stays the same. */
function stateColumns(state: string, event: 'close' | 'reopen' | undefined, closer_id: number) {
  if (event === 'close' && state === 'opened')
    return { state: 'closed', closed_at: sql<string>`now()`, closed_by_id: closer_id };
  if (event === 'reopen' && state === 'closed') return { state: 'opened', closed_at: null, closed_by_id: null };
  return {};
}

/** Updates a join table, with one column for the item and one for its labels or assignees. */
async function writeList(
  tx: Database,
  { column }: IssuableKind,
  id: number,
  table: string,
  of: string,
  list: ListChange,
) {
  const [added, removed] = [without(list.after, list.before), without(list.before, list.after)];
  const [rows, bearer, other] = [sql.table(table), sql.ref(column), sql.ref(of)];
  if (added.length > 0)
    await sql`insert into ${rows} (${bearer}, ${other}) select ${id}, unnest(${added}::bigint[])`.execute(tx);
  if (removed.length > 0)
    await sql`delete from ${rows} where ${bearer} = ${id} and ${other} = any(${ofAnyLength(removed, 'bigint[]')})`.execute(
      tx,
    );
  return added.length + removed.length > 0;
}

interface ListChange {
  before: readonly number[];
  after: readonly number[];
}

/**
 * Replaces the labels of an item.
 * @returns whether they have changed
 */
export const writeLabels = (tx: Database, { kind, id }: Issuable, labels: ListChange): Promise<boolean> =>
  writeList(tx, kind, id, kind.labels, 'label_id', labels);

/** The same for assignees. */
export const writeAssignees = async (tx: Database, { kind, id }: Issuable, assignees: ListChange): Promise<boolean> =>
  kind.assignees !== undefined && writeList(tx, kind, id, kind.assignees, 'user_id', assignees);

/** The same for reviewers. */
export const writeReviewers = async (tx: Database, { kind, id }: Issuable, reviewers: ListChange): Promise<boolean> =>
  kind.reviewers !== undefined && writeList(tx, kind, id, kind.reviewers, 'user_id', reviewers);
