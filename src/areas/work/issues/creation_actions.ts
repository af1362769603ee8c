/** Adding issues. */
import { sql } from 'kysely';
import type { Project } from '../../../access/index.ts';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { conflict, type Plan } from '../../../http/index.ts';
import { referencesIn, taskCompletion } from '../../../markdown/index.ts';
import { activity } from '../../activity/events/index.ts';
import { applyCommands, extractCommands } from '../../conversation/quick_actions/index.ts';
import { type LabelRow, labelsFor, withoutRivals } from '../../planning/labels/index.ts';
import { setEpicOfIssue } from '../epics/index.ts';
import { type Acting, blankIssue, type IssueState, recordEffects } from '../issuables/change_actions.ts';
import { issueOperations } from './command_actions.ts';

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

/** What `insertIssue` writes: an issue as it is to stand there. */
export interface IssueValues extends IssueState {
  author_id: number | null;
  created_at: string | undefined;
}

/** How the number is taken: the next one, or one that was chosen, behind which counting goes on. */
const numberTaken = (project_id: number, iid: number | undefined) => sql`
  insert into internal_ids as known (project_id, usage, last_value) values (${project_id}, 'issues', ${iid ?? 1}::integer)
  on conflict on constraint internal_ids_key
  do update set last_value = ${iid === undefined ? sql`known.last_value + 1` : sql`greatest(known.last_value, excluded.last_value)`}
  returning ${iid === undefined ? sql`last_value` : sql`${iid}::integer`} as iid`;

const values = (project_id: number, issue: IssueValues) => sql`
  ${project_id}::bigint, ${issue.title}::text, ${issue.description}::text, ${issue.issue_type}::text, ${issue.author_id}::bigint,
  ${issue.confidential}::boolean, ${issue.discussion_locked}::boolean, ${issue.milestone_id}::bigint, ${issue.iteration_id}::bigint,
  ${issue.due_date}::date, ${issue.weight}::integer, ${issue.severity}::text, ${taskCompletion(issue.description).count}::integer,
  ${taskCompletion(issue.description).completed_count}::integer, coalesce(${issue.created_at ?? null}::timestamptz, now())`;

export interface Insertion {
  /** A number that was chosen. */
  iid?: number | undefined;
  sent_from?: { address: string; user_agent: string } | undefined;
  /** Whether it is news: the activity of the project, and events for its labels. Not when it was moved here. */
  is_news: boolean;
}

/**
 * Writes an issue with what always belongs to it, in one statement: its number is taken for no longer than that takes, so that nobody waits for a client or for
 * this process while he wants the next one. That is also why the rows of other areas are written here.
 * @param db the database itself where nothing else follows, otherwise a transaction
 * @throws ApiError 409 for a chosen number that is or was taken
 */
export async function insertIssue(
  db: Database,
  { id: project_id }: Pick<Project, 'id'>,
  issue: IssueValues,
  { iid, sent_from, is_news }: Insertion,
): Promise<{ id: number; iid: number }> {
  const { author_id, label_ids, assignee_ids } = issue;
  const statement = sql<{ id: number; iid: number }>`
    with number as (${numberTaken(project_id, iid)}),
    added as (
      insert into issues (project_id, title, description, issue_type, author_id, confidential, discussion_locked, milestone_id, iteration_id, due_date,
                          weight, severity, task_count, completed_task_count, created_at, updated_at, iid)
      select given.*, given.created_at, number.iid from (select ${values(project_id, issue)}) given(
        project_id, title, description, issue_type, author_id, confidential, discussion_locked, milestone_id, iteration_id, due_date,
        weight, severity, task_count, completed_task_count, created_at), number
      returning id, iid, created_at
    ),
    assigned as (insert into issue_assignees (issue_id, user_id) select added.id, unnest(${assignee_ids}::bigint[]) from added),
    labelled as (insert into issue_labels (issue_id, label_id) select added.id, unnest(${label_ids}::bigint[]) from added)
    ${is_news ? newsOf(project_id, author_id, label_ids) : sql``}
    ${sent_from ? agentOf(sent_from) : sql``}
    select id, iid from added`;
  try {
    if (iid !== undefined && (await isRemoved(db, project_id, iid))) throw conflict('Duplicated issue');
    return (await statement.execute(db)).rows[0]!;
  } catch (error) {
    throw isUniqueViolation(error, 'issues_iid_key') ? conflict('Duplicated issue') : error;
  }
}

const newsOf = (project_id: number, author_id: number | null, label_ids: readonly number[]) => sql`,
  label_events as (
    insert into resource_label_events (issue_id, user_id, label_id, action, created_at)
    select added.id, ${author_id}, unnest(${label_ids}::bigint[]), 'add', added.created_at from added
  ),
  event as (
    insert into events (project_id, author_id, action, target_type, target_id, created_at)
    select ${project_id}, ${author_id}, 'created', 'Issue', added.id, added.created_at from added
  ), ${activity([project_id], author_id === null ? [] : [author_id])}`;

const agentOf = ({ address, user_agent }: { address: string; user_agent: string }) => sql`,
  agent as (insert into issue_user_agents (issue_id, user_agent, ip_address) select added.id, ${user_agent}, ${address}::inet from added)`;

async function isRemoved(db: Database, project_id: number, iid: number): Promise<boolean> {
  const query = db.selectFrom('removed_issue_numbers').select('iid').where('project_id', '=', project_id);
  return (await query.where('iid', '=', iid).executeTakeFirst()) !== undefined;
}

/** What an issue looks like once it is there. */
const stateOf = (issue: NewIssue, description: string | null, label_ids: readonly number[]): IssueState => ({
  ...blankIssue,
  title: issue.title,
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
  const { text, commands } = extractCommands(issue.description ?? '');
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
    const change = { issue_id: added.id, project, from: blankIssue, to, is_new: true, at: issue.created_at };
    await recordEffects(tx, acting, change);
    if (issue.epic_id) await setEpicOfIssue(tx, added, issue.epic_id, acting.caller);
    const target = { ...acting, on: { project, issue_id: added.id }, is_new: true };
    if (commands.length > 0) await applyCommands(tx, target, commands, issueOperations(tx, acting, project, added));
    return added;
  });
}

/** The ids of labels that an issue bears together: of each scope one, where the plan knows scopes. */
const labelIds = (labels: ReadonlyMap<string, LabelRow>, plan: Plan): number[] =>
  (plan === 'free' ? [...labels.values()] : withoutRivals([...labels.values()])).map(({ id }) => id);

/** In a transaction of its own, or in the one that `db` is. */
const inTransaction = <T>(db: Database, work: (tx: Database) => Promise<T>): Promise<T> =>
  db.isTransaction ? work(db) : db.transaction().execute(work);
