/** What follows from a change to an issue, in its transaction: notes of the product, resource events, activity, to-dos and mentions. */
import type { Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Caller, Plan } from '../../../http/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import { addTodos, doneTodos } from '../../activity/todos/index.ts';
import { addSystemNote, dateChanged, descriptionChanged, noteMentions, titleChanged } from '../../conversation/notes/index.ts';
import {
  recordIterationEvent,
  recordLabelEvents,
  recordMilestoneEvent,
  recordStateEvent,
  recordWeightEvent,
} from '../../conversation/resource_events/index.ts';
import { assigneesChanged, confidentialityChanged, lockChanged, severityChanged, typeChanged } from './system_note_rules.ts';

/** Who changes something, and what holds for him. */
export interface Acting {
  caller: Caller;
  plan: Plan;
  /** Our external address without a trailing slash. */
  url: string;
}

/** What is noted of an issue when it changes. */
export interface IssueState {
  title: string;
  description: string | null;
  state: 'opened' | 'closed';
  issue_type: string;
  confidential: boolean;
  discussion_locked: boolean | null;
  due_date: string | null;
  weight: number | null;
  milestone_id: number | null;
  iteration_id: number | null;
  severity: string;
  assignee_ids: readonly number[];
  label_ids: readonly number[];
}

/** An issue before there was anything of it. */
export const blankIssue: IssueState = {
  title: '',
  description: null,
  state: 'opened',
  issue_type: 'issue',
  confidential: false,
  discussion_locked: null,
  due_date: null,
  weight: null,
  milestone_id: null,
  iteration_id: null,
  severity: 'UNKNOWN',
  assignee_ids: [],
  label_ids: [],
};

export interface Change {
  issue_id: number;
  project: Pick<Project, 'id'>;
  from: IssueState;
  to: IssueState;
  /** Whether it has just been added: its title and text are no changes then. */
  is_new: boolean;
  /** ISO 8601; now where it is left out. */
  at: string | undefined;
}

export const without = (ids: readonly number[], others: readonly number[]): number[] => ids.filter((id) => !others.includes(id));

/** What is noted in words, except for assignees, who have names. */
function wordsFor({ from, to, is_new }: Change): string[] {
  const words: string[] = [];
  if (!is_new) {
    if (from.title !== to.title) words.push(titleChanged(from.title, to.title));
    if (from.description !== to.description) words.push(...descriptionChanged(from.description, to.description));
    if (from.issue_type !== to.issue_type) words.push(typeChanged(from.issue_type, to.issue_type));
    if (from.confidential !== to.confidential) words.push(confidentialityChanged(to.confidential));
    if ((from.discussion_locked ?? false) !== (to.discussion_locked ?? false))
      words.push(lockChanged(to.discussion_locked ?? false));
  }
  if (from.due_date !== to.due_date) words.push(dateChanged('due date', to.due_date));
  if (from.severity !== to.severity) words.push(severityChanged(to.severity));
  return words;
}

async function wordsForAssignees(tx: Database, added: readonly number[], removed: readonly number[]): Promise<string> {
  const users = await tx
    .selectFrom('users')
    .select(['id', 'username'])
    .where('id', 'in', [...added, ...removed])
    .execute();
  const names = new Map(users.map(({ id, username }) => [id, username]));
  const namesOf = (ids: readonly number[]) => ids.map((id) => names.get(id)).filter((name) => name !== undefined);
  return assigneesChanged(namesOf(added), namesOf(removed));
}

async function recordResourceEvents(tx: Database, caller: Caller, { issue_id, from, to, is_new, at }: Change): Promise<void> {
  const [on, actor] = [{ issue_id }, { user_id: caller.id, created_at: at }];
  const labels = { added: without(to.label_ids, from.label_ids), removed: without(from.label_ids, to.label_ids) };
  // The labels of a new issue are recorded by the statement that adds it.
  if (!is_new) await recordLabelEvents(tx, on, actor, labels);
  if (from.milestone_id !== to.milestone_id)
    await recordMilestoneEvent(tx, on, actor, { from: from.milestone_id, to: to.milestone_id }, to.state);
  if (from.weight !== to.weight) await recordWeightEvent(tx, on, actor, to.weight);
  if (from.iteration_id !== to.iteration_id)
    await recordIterationEvent(tx, on, actor, { from: from.iteration_id, to: to.iteration_id });
}

async function recordState(tx: Database, caller: Caller, { issue_id, project, from, to, at }: Change): Promise<void> {
  if (from.state === to.state) return;
  const action = to.state === 'closed' ? 'closed' : 'reopened';
  await recordStateEvent(tx, { issue_id }, { user_id: caller.id, created_at: at }, action);
  await recordEvent(tx, {
    project_id: project.id,
    author_id: caller.id,
    action,
    target_type: 'Issue',
    target_id: issue_id,
    ...(at === undefined ? {} : { created_at: at }),
  });
}

/** Writes what follows from a change that has been made to the rows of an issue. Nothing follows where nothing differs. */
export async function recordEffects(tx: Database, { caller, url }: Acting, change: Change): Promise<void> {
  const { issue_id, from, to, is_new, at } = change;
  const [on, when] = [{ issue_id }, at === undefined ? {} : { created_at: at }];
  for (const body of wordsFor(change)) await addSystemNote(tx, on, caller.id, body, when);
  const [assigned, unassigned] = [without(to.assignee_ids, from.assignee_ids), without(from.assignee_ids, to.assignee_ids)];
  if (assigned.length + unassigned.length > 0)
    await addSystemNote(tx, on, caller.id, await wordsForAssignees(tx, assigned, unassigned), when);
  await recordResourceEvents(tx, caller, change);
  await recordState(tx, caller, change);
  if (!is_new) await doneTodos(tx, on, caller.id);
  if (assigned.length > 0) await addTodos(tx, { user_ids: assigned, author_id: caller.id, action: 'assigned', target: on });
  if (from.description !== to.description) await noteMentions(tx, { actor: caller, noteable: on, text: to.description, url });
}
