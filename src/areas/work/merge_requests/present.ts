/** How merge requests appear in replies (docs/reference/merge_requests.md). */
import { type Static, Type } from 'typebox';
import { type MaybeCaller, mergeRequestKind, type Project, uploadsPath } from '../../../access/index.ts';
import {
  allOptional,
  deprecated,
  Id,
  nullable,
  optional,
  resource,
  type Services,
  since,
  Timestamp,
} from '../../../http/index.ts';
import { isRendered, toHtml, toInlineHtml } from '../../../markdown/index.ts';
import { headPipeline, PipelineBasic, PipelineDetail } from '../../code/pipelines/index.ts';
import { protectionFor } from '../../code/protected_branches/index.ts';
import { linksFor } from '../../conversation/markdown/index.ts';
import { commentCounts } from '../../conversation/notes/index.ts';
import { mayReadEnvironments } from '../../deployments/environments/index.ts';
import { presentUserBasic, UserBasic } from '../../people/users/index.ts';
import { LabelDetails, presentLabelsOf } from '../../planning/labels/index.ts';
import { Milestone, presentMilestone } from '../../planning/milestones/index.ts';
import { presentTimeStats, TimeStats } from '../issuables/time/present.ts';
import { type MergeRequestRow, mergeRequestRows, type VersionRow } from './queries.ts';
import { changesCount, detailedStatus, squashes } from './rules.ts';

const DiffRefs = Type.Object({ base_sha: Type.String(), head_sha: Type.String(), start_sha: Type.String() });

/** Members of a single merge request only. */
const details = {
  subscribed: optional(Type.Boolean()),
  changes_count: optional(
    nullable(Type.String({ description: 'How many files differ; `1000+` beyond 1,000, null without any' })),
  ),
  latest_build_started_at: optional(nullable(Timestamp)),
  latest_build_finished_at: optional(nullable(Timestamp)),
  first_deployed_to_production_at: optional(nullable(Timestamp)),
  pipeline: optional(nullable(PipelineBasic)),
  head_pipeline: optional(nullable(PipelineDetail)),
  diff_refs: optional(nullable(DiffRefs)),
  merge_error: optional(nullable(Type.String())),
  first_contribution: optional(Type.Boolean()),
  user: optional(Type.Object({ can_merge: Type.Boolean() })),
  rebase_in_progress: optional(Type.Boolean({ description: 'Only on request' })),
  diverged_commits_count: optional(
    Type.Integer({
      description: 'How many commits of the target branch the source branch lacks, at most 10,000; only on request',
    }),
  ),
  title_html: optional(Type.String({ description: 'Only on request' })),
  description_html: optional(Type.String({ description: 'Only on request' })),
};

/** Members for `view=simple`. */
const simpleFields = {
  id: Id,
  iid: Type.Integer(),
  project_id: Id,
  title: Type.String(),
  description: nullable(Type.String()),
  state: Type.Enum(['opened', 'closed', 'merged', 'locked']),
  created_at: Timestamp,
  updated_at: Timestamp,
  web_url: Type.String(),
};

const listFields = {
  merged_by: deprecated('use `merge_user`', nullable(UserBasic)),
  merge_user: nullable(UserBasic),
  merged_at: nullable(Timestamp),
  merge_after: nullable(Timestamp),
  prepared_at: nullable(Timestamp),
  closed_by: nullable(UserBasic),
  closed_at: nullable(Timestamp),
  target_branch: Type.String(),
  source_branch: Type.String(),
  user_notes_count: Type.Integer(),
  upvotes: Type.Integer(),
  downvotes: Type.Integer(),
  author: nullable(UserBasic),
  assignees: Type.Array(UserBasic),
  assignee: deprecated('use `assignees`', nullable(UserBasic)),
  reviewers: Type.Array(UserBasic),
  source_project_id: nullable(Id),
  target_project_id: Id,
  labels: Type.Array(Type.Union([Type.String(), LabelDetails])),
  draft: Type.Boolean(),
  work_in_progress: deprecated('use `draft`', Type.Boolean()),
  milestone: nullable(Milestone),
  merge_when_pipeline_succeeds: Type.Boolean({ description: 'Whether it is merged as soon as it can be' }),
  merge_status: deprecated(
    'use `detailed_merge_status`',
    Type.Enum(['unchecked', 'checking', 'can_be_merged', 'cannot_be_merged', 'cannot_be_merged_recheck']),
  ),
  detailed_merge_status: Type.String(),
  sha: nullable(Type.String({ description: 'The head of the source branch' })),
  merge_commit_sha: nullable(Type.String()),
  squash_commit_sha: nullable(Type.String()),
  discussion_locked: nullable(Type.Boolean()),
  should_remove_source_branch: nullable(Type.Boolean()),
  force_remove_source_branch: nullable(Type.Boolean()),
  allow_collaboration: optional(Type.Boolean()),
  allow_maintainer_to_push: optional(deprecated('use `allow_collaboration`', Type.Boolean())),
  reference: deprecated('use `references`', Type.String()),
  references: Type.Object({ short: Type.String(), relative: Type.String(), full: Type.String() }),
  time_stats: TimeStats,
  squash: Type.Boolean(),
  squash_on_merge: Type.Boolean(),
  task_completion_status: Type.Object({ count: Type.Integer(), completed_count: Type.Integer() }),
  has_conflicts: Type.Boolean(),
  blocking_discussions_resolved: Type.Boolean({ description: 'Whether no open thread prevents merging' }),
  approvals_before_merge: since(
    'premium',
    Type.Null({ description: 'Always null: the old form of a rule of approvals' }),
  ),
  imported: Type.Boolean(),
  imported_from: Type.String(),
};

export const MergeRequest = resource('MergeRequest', { ...simpleFields, ...listFields, ...details });
type MergeRequestReply = Static<typeof MergeRequest>;

/** A merge request in lists, which can be requested in a simple form. */
export const MergeRequestInList = resource('MergeRequestInList', { ...simpleFields, ...allOptional(listFields) });
export type MergeRequestInList = Static<typeof MergeRequestInList>;

/** A merge request in the form for `view=simple`. */
export const simpleForm = (reply: MergeRequestInList): MergeRequestInList => {
  const { id, iid, project_id, title, description, state, created_at, updated_at, web_url } = reply;
  return { id, iid, project_id, title, description, state, created_at, updated_at, web_url };
};

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
  draft: row.draft,
  work_in_progress: row.draft,
  merge_when_pipeline_succeeds: row.auto_merge_user_id !== null,
  merge_status: row.merge_status,
  detailed_merge_status: detailedStatus(row),
  has_conflicts: row.merge_status === 'cannot_be_merged',
  blocking_discussions_resolved: row.blocking_discussions_resolved,
  squash: row.squash,
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

/** Collaboration on the source branch exists only for forks. */
const collaborationOf = ({ is_from_fork, allow_collaboration }: MergeRequestRow) =>
  is_from_fork ? { allow_collaboration, allow_maintainer_to_push: allow_collaboration } : {};

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

function presentMergeRequest(
  url: string,
  row: MergeRequestRow,
  { labels, comments }: Around,
  relative_to: number | undefined,
): MergeRequestReply {
  const { id, iid, project_id, title, description, state, created_at, updated_at, merged_at, closed_at } = row;
  const { merge_after, prepared_at, target_branch, source_branch, source_project_id, upvotes, downvotes } = row;
  const {
    merge_commit_sha,
    squash_commit_sha,
    discussion_locked,
    should_remove_source_branch,
    force_remove_source_branch,
  } = row;
  const [short, full] = [`!${iid}`, `${row.full_path}!${iid}`];
  const relative = relative_to === project_id ? short : full;
  return {
    id,
    iid,
    project_id,
    title,
    description,
    state,
    created_at,
    updated_at,
    merged_at,
    closed_at,
    merge_after,
    prepared_at,
    target_branch,
    source_branch,
    source_project_id,
    user_notes_count: comments.get(id) ?? row.user_notes_count,
    upvotes,
    downvotes,
    merge_commit_sha,
    squash_commit_sha,
    discussion_locked,
    should_remove_source_branch,
    force_remove_source_branch,
    ...peopleOf(url, row),
    ...stateOf(row),
    ...collaborationOf(row),
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
    imported_from: row.imported_from,
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
    linkOf: isRendered(text) ? await linksFor({ db, caller, url }, text, project) : undefined,
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
