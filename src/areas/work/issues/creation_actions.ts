/** Creating issues. */
import { issueKind, type Project, theIssue } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type ChangesOf, valuesOf } from '../../../fields/index.ts';
import type { Plan } from '../../../http/index.ts';
import { referencesIn } from '../../../markdown/index.ts';
import { type Acting, applyCommands, extractCommands } from '../../conversation/quick_actions/index.ts';
import { type LabelRow, labelsFor, withoutRivals } from '../../planning/labels/index.ts';
import { setEpicOfIssue } from '../epics/issue_actions.ts';
import { recordEffects } from '../issuables/change_actions.ts';
import { hooksForIssue } from '../issuables/hooks/actions.ts';
import { issueFields } from './fields.ts';
import { type IssueState, insertIssue } from './insertion_actions.ts';
import { issueNoun } from './noteable.ts';

/** A new issue. The caller may set all its members, and all are valid. */
export interface NewIssue extends ChangesOf<typeof issueFields, 'issues'> {
  title: string;
  /** Its quick actions are applied and removed. */
  description?: string | null | undefined;
  epic_id?: number | null | undefined;
  assignee_ids?: readonly number[] | undefined;
  /** Titles of labels; missing ones are created if `creates_labels` is true, and ignored otherwise. */
  labels?: readonly string[] | undefined;
  creates_labels?: boolean;
  /** ISO 8601; defaults to now. */
  created_at?: string | undefined;
  /** Defaults to the next number. */
  iid?: number | undefined;
  /** The IP address and user agent of the request, stored for spam reports. */
  sent_from?: { address: string; user_agent: string } | undefined;
}

export interface AddedIssue {
  id: number;
  iid: number;
  project_id: number;
}

/** The issue after its creation. */
const stateOf = (issue: NewIssue, description: string | null, label_ids: readonly number[]): IssueState => ({
  ...valuesOf(issueFields, issue),
  title: issue.title,
  state: 'opened',
  description,
  assignee_ids: issue.assignee_ids ?? [],
  label_ids,
});

/** Whether a new issue has no effects besides its own rows: no mentions, to-do items or notes. */
const isQuiet = async ({ due_date, weight, milestone_id, assignee_ids, description }: IssueState, url: string) =>
  assignee_ids.length === 0 &&
  [due_date, weight, milestone_id].every((value) => value === undefined) &&
  (await referencesIn(description ?? '', url)).length === 0;

const isTold = async (db: Database, project_id: number, { confidential = false }: NewIssue) =>
  (await hooksForIssue(db, project_id, confidential)).length > 0;

/**
 * Creates an issue, with all effects.
 * @param db the database, or a transaction to run in
 * @throws ApiError 409 for a chosen iid that is or was in use, 422 for an epic that it cannot be in
 */
export async function createIssue(
  db: Database,
  acting: Acting,
  project: Project,
  issue: NewIssue,
): Promise<AddedIssue> {
  const { text, commands } = await extractCommands(issue.description ?? '', issueNoun.quickActions);
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
  const isPlain = commands.length === 0 && !addsLabels && !issue.epic_id;
  if (isPlain && (await isQuiet(stateOf(issue, description, []), acting.url)) && !(await isTold(db, project.id, issue)))
    return (await insert(db, known)).added;
  return inTransaction(db, async (tx) => {
    const { to, added } = await insert(tx, addsLabels ? await labelsFor(tx, place, titles, { create: true }) : known);
    const { title, state, label_ids } = to;
    const change = {
      on: theIssue(added.id),
      project_id: project.id,
      from: { title, state, label_ids, description: null, assignee_ids: [] },
      to,
      is_new: true,
      at: issue.created_at,
    };
    await recordEffects(tx, acting, change);
    if (issue.epic_id) await setEpicOfIssue(tx, added, issue.epic_id, acting.caller);
    const on = { ...added, kind: issueKind, in: { project }, access_level: project.access_level };
    if (commands.length > 0) await applyCommands(tx, issueNoun.quickActions, { ...acting, on, is_new: true }, commands);
    return added;
  });
}

/** The ids of labels that an issue can have at the same time: one per scope, if the plan includes scoped labels. */
const labelIds = (labels: ReadonlyMap<string, LabelRow>, plan: Plan): number[] =>
  (plan === 'free' ? [...labels.values()] : withoutRivals([...labels.values()])).map(({ id }) => id);

/** Runs in its own transaction, or in the transaction `db`. */
const inTransaction = <T>(db: Database, work: (tx: Database) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db) : db.transaction().execute(work);
