/** Adding issues. */
import { issueKind, type Project, theIssue } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Plan } from '../../../http/index.ts';
import { referencesIn } from '../../../markdown/index.ts';
import type { Acting } from '../../conversation/quick_actions/index.ts';
import { applyCommands, extractCommands } from '../../conversation/quick_actions/index.ts';
import { type LabelRow, labelsFor, withoutRivals } from '../../planning/labels/index.ts';
import { setEpicOfIssue } from '../epics/index.ts';
import { recordEffects } from '../issuables/index.ts';
import { type IssueState, insertIssue } from './insertion_actions.ts';
import { issueNoun } from './noteable.ts';

/** An issue to be. Everything of it is the caller's to say, and in order. */
export interface NewIssue {
  title: string;
  /** Its quick actions are done and taken out. */
  description?: string | null | undefined;
  issue_type?: 'issue' | 'incident' | 'test_case' | 'task' | undefined;
  confidential?: boolean | undefined;
  discussion_locked?: boolean | undefined;
  /** `YYYY-MM-DD` */
  due_date?: string | null | undefined;
  weight?: number | null | undefined;
  milestone_id?: number | null | undefined;
  epic_id?: number | null | undefined;
  assignee_ids?: readonly number[] | undefined;
  /** Titles of labels; those that are not there are added where `creates_labels` says so, and left out otherwise. */
  labels?: readonly string[] | undefined;
  creates_labels?: boolean;
  /** ISO 8601; now where it is left out. */
  created_at?: string | undefined;
  /** The next number where it is left out. */
  iid?: number | undefined;
  /** Where the request came from, kept against spam. */
  sent_from?: { address: string; user_agent: string } | undefined;
}

export interface AddedIssue {
  id: number;
  iid: number;
  project_id: number;
}

/** What an issue has before anybody says otherwise. */
const nothing = {
  description: null,
  due_date: null,
  weight: null,
  milestone_id: null,
  iteration_id: null,
  severity: 'UNKNOWN',
  assignee_ids: [],
};

/** What an issue looks like once it is there. */
const stateOf = (issue: NewIssue, description: string | null, label_ids: readonly number[]): IssueState => ({
  ...nothing,
  title: issue.title,
  state: 'opened',
  description,
  issue_type: issue.issue_type ?? 'issue',
  confidential: issue.confidential ?? false,
  discussion_locked: issue.discussion_locked ?? null,
  due_date: issue.due_date ?? null,
  weight: issue.weight ?? null,
  milestone_id: issue.milestone_id ?? null,
  assignee_ids: issue.assignee_ids ?? [],
  label_ids,
});

/** Whether an issue is only its own rows: nobody is told of it, and nothing is noted. */
const isQuiet = ({ due_date, weight, milestone_id, assignee_ids, description }: IssueState, url: string) =>
  assignee_ids.length === 0 &&
  [due_date, weight, milestone_id].every((value) => value === null) &&
  referencesIn(description ?? '', url).length === 0;

/**
 * Adds an issue, with everything that follows from it.
 * @param db the database, or a transaction of which it becomes part
 * @throws ApiError 409 for a chosen number that is or was taken, 422 for an epic that it cannot be in
 */
export async function createIssue(db: Database, acting: Acting, project: Project, issue: NewIssue): Promise<AddedIssue> {
  const { text, commands } = extractCommands(issue.description ?? '', issueNoun);
  const description = issue.description ? text : (issue.description ?? null);
  const place = { project_id: project.id };
  const titles = issue.labels ?? [];
  const known = await labelsFor(db, place, titles, { create: false });
  const addsLabels = issue.creates_labels === true && titles.some((title) => !known.has(title.trim()));
  const insert = async (on: Database, labels: ReadonlyMap<string, LabelRow>) => {
    const to = stateOf(issue, description, labelIds(labels, acting.plan));
    const { iid, sent_from, created_at } = issue;
    const values = { ...to, author_id: acting.caller.id, created_at };
    return { to, added: { ...(await insertIssue(on, project, values, { iid, sent_from, is_news: true })), ...place } };
  };
  if (commands.length === 0 && !addsLabels && !issue.epic_id && isQuiet(stateOf(issue, description, []), acting.url))
    return (await insert(db, known)).added;
  return inTransaction(db, async (tx) => {
    const { to, added } = await insert(tx, addsLabels ? await labelsFor(tx, place, titles, { create: true }) : known);
    const blank = { ...to, ...nothing };
    const change = { on: theIssue(added.id), project_id: project.id, from: blank, to, is_new: true, at: issue.created_at };
    await recordEffects(tx, acting, change);
    if (issue.epic_id) await setEpicOfIssue(tx, added, issue.epic_id, acting.caller);
    const on = { ...added, kind: issueKind, in: { project }, access_level: project.access_level };
    if (commands.length > 0) await applyCommands(tx, issueNoun, { ...acting, on, is_new: true }, commands);
    return added;
  });
}

/** The ids of labels that an issue bears together: of each scope one, where the plan knows scopes. */
const labelIds = (labels: ReadonlyMap<string, LabelRow>, plan: Plan): number[] =>
  (plan === 'free' ? [...labels.values()] : withoutRivals([...labels.values()])).map(({ id }) => id);

/** In a transaction of its own, or in the one that `db` is. */
const inTransaction = <T>(db: Database, work: (tx: Database) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db) : db.transaction().execute(work);
