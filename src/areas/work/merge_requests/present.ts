/** How merge requests appear in replies (docs/reference/merge_requests.md). */
import type { Static } from 'typebox';
import { type MaybeCaller, mergeRequestKind, type Project, uploadsPath } from '../../../access/index.ts';
import { replyOf, shownOf } from '../../../fields/index.ts';
import { allOptional, resource, type Services } from '../../../http/index.ts';
import { toHtml, toInlineHtml } from '../../../markdown/index.ts';
import { headPipeline } from '../../code/pipelines/index.ts';
import { protectionFor } from '../../code/protected_branches/index.ts';
import { linksFor } from '../../conversation/markdown/index.ts';
import { commentCounts } from '../../conversation/notes/index.ts';
import { mayReadEnvironments } from '../../deployments/environments/index.ts';
import { presentUserBasic } from '../../people/users/index.ts';
import { presentLabelsOf } from '../../planning/labels/index.ts';
import { presentMilestone } from '../../planning/milestones/index.ts';
import { presentTimeStats } from '../issuables/time/present.ts';
import { listFields, mergeRequestFields, simpleFields } from './fields.ts';
import { type MergeRequestRow, mergeRequestRows, type VersionRow } from './queries.ts';
import { changesCount, detailedStatus, squashes } from './rules.ts';

export const MergeRequest = resource('MergeRequest', replyOf(mergeRequestFields));
type MergeRequestReply = Static<typeof MergeRequest>;

const simpleMembers = replyOf(simpleFields);

/** A merge request in lists, which can be requested in a simple form. */
export const MergeRequestInList = resource('MergeRequestInList', {
  ...simpleMembers,
  ...allOptional(replyOf(listFields)),
});
export type MergeRequestInList = Static<typeof MergeRequestInList>;

/** A merge request in the form for `view=simple`. */
export const simpleForm = (reply: MergeRequestInList): MergeRequestInList =>
  Object.fromEntries(Object.entries(reply).filter(([name]) => name in simpleMembers)) as MergeRequestInList;

export interface MergeRequestForm {
  /** The project of the list: references to its own merge requests are short. If omitted, all are full. */
  relative_to?: number | undefined;
  with_labels_details?: boolean | undefined;
}

/** Optional members of a single merge request. */
export interface SingleForm {
  /** Whether to add the title and the description as HTML. */
  render_html?: boolean;
  include_rebase_in_progress?: boolean;
}

const stateOf = (row: MergeRequestRow) => ({
  work_in_progress: row.draft,
  merge_when_pipeline_succeeds: row.auto_merge_user_id !== null,
  detailed_merge_status: detailedStatus(row),
  has_conflicts: row.merge_status === 'cannot_be_merged',
  blocking_discussions_resolved: row.blocking_discussions_resolved,
  squash_on_merge: squashes(row.squash_option, row.squash),
});

function peopleOf(url: string, { author, assignees, reviewers, closed_by, merge_user }: MergeRequestRow) {
  const shown = assignees.map((user) => presentUserBasic(url, user));
  const merger = merge_user && presentUserBasic(url, merge_user);
  return {
    author: author && presentUserBasic(url, author),
    assignees: shown,
    assignee: shown[0] ?? null,
    reviewers: reviewers.map((user) => presentUserBasic(url, user)),
    closed_by: closed_by && presentUserBasic(url, closed_by),
    merged_by: merger,
    merge_user: merger,
  };
}

/** Related data of a page, by row id. */
interface Around {
  labels: ReadonlyMap<number, MergeRequestReply['labels']>;
  /** For rows with internal comments: the number of comments that the caller may read. */
  comments: ReadonlyMap<number, number>;
}

async function around(
  db: Services['db'],
  caller: MaybeCaller,
  rows: readonly MergeRequestRow[],
  with_labels_details?: boolean,
): Promise<Around> {
  const [labels, comments] = await Promise.all([
    presentLabelsOf(rows, with_labels_details),
    commentCounts(db, caller, rows),
  ]);
  return { labels, comments };
}

const shownInLists = shownOf({ ...simpleFields, ...listFields });

function presentMergeRequest(
  url: string,
  row: MergeRequestRow,
  { labels, comments }: Around,
  relative_to: number | undefined,
): MergeRequestReply {
  const { allow_collaboration, ...shown } = shownInLists(row);
  const { id, iid, project_id } = row;
  const [short, full] = [`!${iid}`, `${row.full_path}!${iid}`];
  const relative = relative_to === project_id ? short : full;
  return {
    ...shown,
    user_notes_count: comments.get(id) ?? row.user_notes_count,
    ...peopleOf(url, row),
    ...stateOf(row),
    // Collaboration on the source branch exists only for forks.
    ...(row.is_from_fork ? { allow_collaboration, allow_maintainer_to_push: allow_collaboration } : {}),
    source_project_id: row.source_project_id,
    target_project_id: project_id,
    sha: row.head_commit_id,
    labels: labels.get(id) ?? [],
    milestone: row.milestone && presentMilestone(url, row.milestone),
    reference: relative,
    references: { short, relative, full },
    web_url: url + mergeRequestKind.page(row.full_path, iid),
    time_stats: presentTimeStats(row),
    task_completion_status: { count: row.task_count, completed_count: row.completed_task_count },
    approvals_before_merge: null,
    imported: row.imported_from !== 'none',
  };
}

/**
 * Merge requests as replies, with a fixed number of statements for any number of them.
 * @param services `db` may be a transaction
 * @param caller the reader, who may read them; other details that they may not see are omitted
 * @param ids the replies are in this order, without deleted ones
 */
export async function presentMergeRequests(
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  ids: readonly number[],
  { relative_to, with_labels_details }: MergeRequestForm = {},
): Promise<MergeRequestReply[]> {
  const rows = await mergeRequestRows(db, caller, ids, false);
  const known = await around(db, caller, rows, with_labels_details);
  return rows.map((row) => presentMergeRequest(url, row, known, relative_to));
}

function diffRefsOf(version: VersionRow | null) {
  if (!version || version.base_commit_sha === null) return null;
  return { base_sha: version.base_commit_sha, head_sha: version.head_commit_sha, start_sha: version.start_commit_sha };
}

/** The texts as HTML, with links for references that the caller may follow. */
async function htmlOf(
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  project: Project,
  row: MergeRequestRow,
) {
  const context = async (text: string) => ({
    linkOf: await linksFor({ db, caller, url }, text, project),
    uploads: uploadsPath('project', project.id),
  });
  const { title, description } = row;
  return {
    title_html: await toInlineHtml(title, await context(title)),
    description_html: description ? await toHtml(description, await context(description)) : '',
  };
}

/**
 * One merge request as the reply of an operation on it, with all members of a single one.
 * @param project the target project
 * @throws Error if it is deleted
 */
export async function presentSingleMergeRequest(
  { db, url }: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  project: Project,
  id: number,
  { render_html, include_rebase_in_progress }: SingleForm = {},
): Promise<MergeRequestReply> {
  const [row] = await mergeRequestRows(db, caller, [id], true);
  if (!row) throw new Error(`the merge request ${id} is gone`);
  const known = await around(db, caller, [row]);
  const protection = await protectionFor(db, project, caller);
  const { source_project_id, source_branch: ref, head_commit_id: sha } = row;
  const pipeline =
    sha === null
      ? null
      : await headPipeline({ db, url }, caller, { projects: [source_project_id ?? project.id, project.id], sha, ref });
  return {
    ...presentMergeRequest(url, row, known, project.id),
    subscribed: row.subscribed,
    changes_count: changesCount(row.version?.files_count ?? null, row.version?.state === 'overflow'),
    latest_build_started_at: pipeline?.detail.started_at ?? null,
    latest_build_finished_at: pipeline?.detail.finished_at ?? null,
    first_deployed_to_production_at: mayReadEnvironments(caller, project) ? row.first_deployed_to_production_at : null,
    pipeline: pipeline?.basic ?? null,
    head_pipeline: pipeline?.detail ?? null,
    diff_refs: diffRefsOf(row.version),
    merge_error: row.merge_error,
    first_contribution: row.is_first,
    user: { can_merge: protection(row.target_branch).may_merge },
    ...(include_rebase_in_progress ? { rebase_in_progress: row.is_rebasing } : {}),
    ...(render_html ? await htmlOf({ db, url }, caller, project, row) : {}),
  };
}
