/** How issues appear in replies (docs/reference/issues.md). */
import type { Static } from 'typebox';
import { issueKind, type MaybeCaller } from '../../../access/index.ts';
import { replyOf, shownOf } from '../../../fields/index.ts';
import { resource, type Services } from '../../../http/index.ts';
import { taskStatus } from '../../../markdown/index.ts';
import { commentCounts } from '../../conversation/notes/index.ts';
import { presentUserBasic } from '../../people/users/index.ts';
import { type IterationRow, iterationsById, presentIteration } from '../../planning/iterations/index.ts';
import { presentLabelsOf } from '../../planning/labels/index.ts';
import { presentMilestone } from '../../planning/milestones/index.ts';
import type { EpicInIssue } from '../epics/present.ts';
import { epicsInIssues } from '../epics/queries.ts';
import { presentTimeStats } from '../issuables/time/present.ts';
import { blockedIssues, closingMergeRequests } from './count_queries.ts';
import { issueFields } from './fields.ts';
import { type IssuePlace, type IssueRow, issueRow, issueRows, originalsById } from './queries.ts';

export const Issue = resource('Issue', replyOf(issueFields));
export type IssueReply = Static<typeof Issue>;

export interface IssueForm {
  /** The project of the list: references to its own issues are short. If omitted, all are full. */
  relative_to?: number | undefined;
  with_labels_details?: boolean | undefined;
}

/** Related rows of a page, by id. */
interface Around {
  labels: Map<number, IssueReply['labels']>;
  iterations: Map<number, IterationRow>;
  epics: Map<number, Static<typeof EpicInIssue>>;
  originals: Map<number, IssuePlace>;
  /** The number of comments that the caller may read, for issues with internal ones. */
  comments: ReadonlyMap<number, number>;
  /** The number of open issues blocked by the issue, and of merge requests that close it, counting only those that the caller may read. */
  blocked: ReadonlyMap<number, number>;
  closing: ReadonlyMap<number, number>;
}

const idsOf = (rows: readonly IssueRow[], column: 'iteration_id' | 'epic_id' | 'duplicated_to_id'): number[] => [
  ...new Set(rows.map((row) => row[column]).filter((id) => id !== null)),
];

/** Every statement covers the whole page, so a longer page needs no more statements. */
async function around(
  db: Services['db'],
  caller: MaybeCaller,
  rows: readonly IssueRow[],
  { with_labels_details }: IssueForm,
): Promise<Around> {
  const idsWith = (column: 'blocks_others' | 'is_closed_by_any') =>
    rows.filter((row) => row[column]).map(({ id }) => id);
  const [labels, iterations, epics, originals, comments, blocked, closing] = await Promise.all([
    presentLabelsOf(rows, with_labels_details),
    iterationsById(db, idsOf(rows, 'iteration_id')),
    epicsInIssues(db, caller, idsOf(rows, 'epic_id')),
    originalsById(db, caller, idsOf(rows, 'duplicated_to_id')),
    commentCounts(db, caller, rows),
    blockedIssues(db, caller, idsWith('blocks_others')),
    closingMergeRequests(db, caller, idsWith('is_closed_by_any')),
  ]);
  return { labels, iterations, epics, originals, comments, blocked, closing };
}

function addresses(url: string, { project_id, iid }: IssueRow, original: IssuePlace | undefined): IssueReply['_links'] {
  const project = `${url}/api/v4/projects/${project_id}`;
  const self = `${project}/issues/${iid}`;
  return {
    self,
    notes: `${self}/notes`,
    award_emoji: `${self}/award_emoji`,
    project,
    closed_as_duplicate_of: original ? `${url}/api/v4/projects/${original.project_id}/issues/${original.iid}` : null,
  };
}

/** The task counts of the description. */
function tasksOf({ task_count, completed_task_count }: IssueRow) {
  const status = { count: task_count, completed_count: completed_task_count };
  return {
    task_completion_status: status,
    has_tasks: task_count > 0,
    ...(task_count > 0 ? { task_status: taskStatus(status) } : {}),
  };
}

/** Members of issues in groups only. */
function groupPartsOf(url: string, row: IssueRow, { epics, iterations }: Around) {
  if (!row.in_group) return {};
  const [epic, iteration] = [epics.get(row.epic_id ?? 0), iterations.get(row.iteration_id ?? 0)];
  return {
    epic: epic ?? null,
    epic_iid: epic?.iid ?? null,
    iteration: iteration ? presentIteration(url, iteration) : null,
  };
}

const shown = shownOf(issueFields);

function presentIssue(url: string, row: IssueRow, known: Around, form: IssueForm): IssueReply {
  const { id, iid, project_id, issue_type, imported_from } = row;
  const assignees = row.assignees.map((user) => presentUserBasic(url, user));
  const [short, full] = [`#${iid}`, `${row.full_path}#${iid}`];
  return {
    ...shown(row),
    closed_by: row.closed_by && presentUserBasic(url, row.closed_by),
    labels: known.labels.get(id) ?? [],
    milestone: row.milestone && presentMilestone(url, row.milestone),
    assignees,
    author: row.author && presentUserBasic(url, row.author),
    type: issue_type.toUpperCase(),
    assignee: assignees[0] ?? null,
    user_notes_count: known.comments.get(id) ?? row.user_notes_count,
    merge_requests_count: known.closing.get(id) ?? 0,
    web_url: url + issueKind.page(row.full_path, iid),
    time_stats: presentTimeStats(row),
    ...tasksOf(row),
    blocking_issues_count: known.blocked.get(id) ?? 0,
    ...groupPartsOf(url, row, known),
    _links: addresses(url, row, known.originals.get(row.duplicated_to_id ?? 0)),
    references: { short, relative: form.relative_to === project_id ? short : full, full },
    imported: imported_from !== 'none',
    service_desk_reply_to: null,
    error_tracking_error_id: row.error_tracking_error_id,
  };
}

/**
 * Issues as replies, with a fixed number of statements for any number of issues.
 * @param services `db` may be a transaction
 * @param caller the reader, who may read the issues; other details that they may not see are omitted
 * @param ids ids of issues; the replies are in this order, without deleted ones
 */
export async function presentIssues(
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  ids: readonly number[],
  form: IssueForm = {},
): Promise<IssueReply[]> {
  const rows = await issueRows(db, ids);
  const known = await around(db, caller, rows, form);
  return rows.map((row) => presentIssue(url, row, known, form));
}

/**
 * One issue as the reply of an operation on it.
 * @throws Error if it is deleted
 */
export async function presentSingleIssue(
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  { id, project_id }: { id: number; project_id: number },
): Promise<IssueReply> {
  const row = await issueRow(db, caller, id);
  if (!row) throw new Error(`the issue ${id} is gone`);
  const form = { relative_to: project_id };
  return { ...presentIssue(url, row, await around(db, caller, [row], form), form), subscribed: row.subscribed };
}
