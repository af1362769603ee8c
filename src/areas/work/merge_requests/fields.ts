/** The fields of merge requests: all members of replies, in their order, and all parameters (docs/reference/merge_requests.md, docs/adding_a_field.md). */
import { Type } from 'typebox';
import type { Field } from '../../../fields/index.ts';
import {
  ClearableList,
  CommaList,
  checked,
  deprecated,
  Id,
  longText,
  NotBlank,
  nullable,
  optional,
  since,
  Timestamp,
} from '../../../http/index.ts';
import {
  choice,
  column,
  columnOr,
  flag,
  integer,
  markdown,
  required,
  sha,
  text,
  time,
} from '../../../relations/index.ts';
import { descriptionReasons, titleReasons, tooLong } from '../../../texts/index.ts';
import { PipelineBasic, PipelineDetail } from '../../code/pipelines/index.ts';
import { UserBasic } from '../../people/users/index.ts';
import { LabelDetails } from '../../planning/labels/index.ts';
import { Milestone } from '../../planning/milestones/index.ts';
import { TimeStats } from '../issuables/time/present.ts';

type Fields = Record<string, Field>;

const titleHelp = { description: 'At most 255 characters; `Draft:` before it marks a draft' };
const branchReasons = (name: string) => (name.trim() === '' ? ["can't be blank", 'is invalid'] : []);
const branchName = text((name) => (name === '' ? ["can't be blank"] : tooLong(name, 255)));
const count = { column: 'kept', reply: Type.Integer() } as const;
const person = { reply: nullable(UserBasic) };
const moment = { column: 'kept', reply: nullable(Timestamp) } as const;

/** Members for `view=simple`. */
export const simpleFields = {
  id: { column: 'kept', reply: Id },
  iid: { ...count, relation: required('iid', integer(1, 1_000_000_000)) },
  project_id: { column: 'kept', reply: Id },
  title: {
    column: 'given',
    create: checked(Type.String(titleHelp), titleReasons),
    update: checked(NotBlank(titleHelp), titleReasons),
    is_required: true,
    reply: Type.String(),
    relation: required('title', text(titleReasons)),
    hook: true,
    control: { label: 'Title', is_required: true, is_clearable: true, help: 'Draft: before it marks a draft.' },
  },
  assignee_ids: { input: ClearableList(Id) },
  assignee_id: { input: deprecated('use `assignee_ids`', nullable(Type.Integer())) },
  reviewer_ids: { input: ClearableList(Id) },
  description: {
    column: 'given',
    input: longText(
      checked(nullable(Type.String({ description: 'At most 1,048,576 characters' })), descriptionReasons),
    ),
    reply: nullable(Type.String()),
    relation: column('description', markdown(descriptionReasons)),
    hook: true,
    control: { label: 'Description', kind: 'markdown', is_clearable: true, help: 'Markdown.' },
  },
  state: {
    column: 'kept',
    reply: Type.Enum(['opened', 'closed', 'merged', 'locked']),
    relation: columnOr('state', choice('opened', 'closed', 'merged', 'locked'), 'opened'),
  },
  created_at: { column: 'kept', reply: Timestamp, relation: required('created_at', time) },
  updated_at: { column: 'kept', reply: Timestamp, relation: required('updated_at', time) },
  web_url: { reply: Type.String() },
} satisfies Fields;

/** The other members in lists. */
export const listFields = {
  merged_by: { reply: deprecated('use `merge_user`', nullable(UserBasic)) },
  merge_user: person,
  merged_at: moment,
  merge_after: {
    column: 'given',
    input: nullable(Timestamp),
    reply: nullable(Timestamp),
    relation: column('merge_after', time),
    hook: true,
  },
  prepared_at: moment,
  closed_by: person,
  closed_at: moment,
  target_branch: {
    column: 'given',
    create: checked(Type.String(), branchReasons),
    update: NotBlank(),
    is_required: true,
    reply: Type.String(),
    relation: required('target_branch', branchName),
    hook: true,
    control: { label: 'Target branch', is_required: true, is_clearable: true, only_edits: true },
  },
  source_branch: { column: 'kept', reply: Type.String(), relation: required('source_branch', branchName) },
  user_notes_count: count,
  upvotes: count,
  downvotes: count,
  author: person,
  assignees: { reply: Type.Array(UserBasic) },
  assignee: { reply: deprecated('use `assignees`', nullable(UserBasic)) },
  reviewers: { reply: Type.Array(UserBasic) },
  source_project_id: { reply: nullable(Id) },
  target_project_id: { reply: Id },
  milestone_id: { column: 'given', input: nullable(Type.Integer({ description: '0: none' })), hook: true },
  labels: {
    input: ClearableList(Type.String({ description: 'Titles' })),
    reply: Type.Array(Type.Union([Type.String(), LabelDetails])),
  },
  add_labels: { input: CommaList(Type.String({ description: 'Titles of labels to add' })) },
  remove_labels: { input: CommaList(Type.String({ description: 'Titles of labels to remove' })) },
  draft: { column: 'kept', reply: Type.Boolean() },
  work_in_progress: { reply: deprecated('use `draft`', Type.Boolean()) },
  milestone: { reply: nullable(Milestone) },
  auto_merge_user_id: { column: 'kept' },
  merge_when_pipeline_succeeds: { reply: Type.Boolean({ description: 'Whether it is merged as soon as it can be' }) },
  merge_status: {
    column: 'kept',
    reply: deprecated(
      'use `detailed_merge_status`',
      Type.Enum(['unchecked', 'checking', 'can_be_merged', 'cannot_be_merged', 'cannot_be_merged_recheck']),
    ),
  },
  detailed_merge_status: { reply: Type.String() },
  head_commit_id: { column: 'kept' },
  sha: { reply: nullable(Type.String({ description: 'The head of the source branch' })) },
  merge_commit_sha: {
    column: 'kept',
    reply: nullable(Type.String()),
    relation: column('merge_commit_sha', sha),
  },
  squash_commit_sha: {
    column: 'kept',
    reply: nullable(Type.String()),
    relation: column('squash_commit_sha', sha),
  },
  state_event: { update: Type.Enum(['close', 'reopen']) },
  discussion_locked: {
    column: 'given',
    update: Type.Boolean(),
    reply: nullable(Type.Boolean()),
    relation: column('discussion_locked', flag),
    hook: true,
    control: { label: 'Locked: only members can comment', kind: 'checkbox' },
  },
  should_remove_source_branch: { column: 'kept', reply: nullable(Type.Boolean()) },
  force_remove_source_branch: {
    column: 'given',
    reply: nullable(Type.Boolean()),
    relation: column('force_remove_source_branch', flag),
  },
  allow_collaboration: {
    column: 'given',
    input: Type.Boolean({
      description: 'Whether those who may merge may push to the source branch; only for one from a fork',
    }),
    reply: optional(Type.Boolean()),
  },
  allow_maintainer_to_push: {
    input: deprecated('use `allow_collaboration`', Type.Boolean()),
    reply: optional(deprecated('use `allow_collaboration`', Type.Boolean())),
    relation: columnOr('allow_collaboration', flag, false),
  },
  reference: { reply: deprecated('use `references`', Type.String()) },
  references: { reply: Type.Object({ short: Type.String(), relative: Type.String(), full: Type.String() }) },
  time_stats: { reply: TimeStats },
  time_estimate_s: { column: 'kept' },
  total_time_spent_s: { column: 'kept' },
  squash: {
    column: 'given',
    input: Type.Boolean(),
    reply: Type.Boolean(),
    relation: columnOr('squash', flag, false),
    hook: true,
    control: { label: 'Make one commit of all when merging', kind: 'checkbox' },
  },
  remove_source_branch: {
    input: Type.Boolean({ description: 'Whether the source branch is removed after merging' }),
    control: { label: 'Remove the source branch after merging', kind: 'checkbox' },
  },
  squash_on_merge: { reply: Type.Boolean() },
  task_count: { column: 'kept' },
  completed_task_count: { column: 'kept' },
  task_completion_status: { reply: Type.Object({ count: Type.Integer(), completed_count: Type.Integer() }) },
  has_conflicts: { reply: Type.Boolean() },
  blocking_discussions_resolved: {
    reply: Type.Boolean({ description: 'Whether no open thread prevents merging' }),
  },
  approvals_before_merge: {
    create: deprecated('has no effect', Type.Integer()),
    reply: since('premium', Type.Null({ description: 'Always null: the old form of a rule of approvals' })),
  },
  imported: { reply: Type.Boolean() },
  imported_from: { column: 'kept', reply: Type.String() },
} satisfies Fields;

/** Members of a single merge request only. */
const detailFields = {
  subscribed: { reply: optional(Type.Boolean()) },
  changes_count: {
    reply: optional(
      nullable(Type.String({ description: 'How many files differ; `1000+` beyond 1,000, null without any' })),
    ),
  },
  latest_build_started_at: { reply: optional(nullable(Timestamp)) },
  latest_build_finished_at: { reply: optional(nullable(Timestamp)) },
  first_deployed_to_production_at: {
    column: 'kept',
    reply: optional(nullable(Timestamp)),
    relation: column('first_deployed_to_production_at', time),
  },
  pipeline: { reply: optional(nullable(PipelineBasic)) },
  head_pipeline: { reply: optional(nullable(PipelineDetail)) },
  diff_refs: {
    reply: optional(
      nullable(Type.Object({ base_sha: Type.String(), head_sha: Type.String(), start_sha: Type.String() })),
    ),
  },
  merge_error: {
    column: 'kept',
    reply: optional(nullable(Type.String())),
    relation: column(
      'merge_error',
      text((error) => tooLong(error, 1024)),
    ),
  },
  first_contribution: { reply: optional(Type.Boolean()) },
  user: { reply: optional(Type.Object({ can_merge: Type.Boolean() })) },
  rebase_in_progress: { reply: optional(Type.Boolean({ description: 'Only on request' })) },
  diverged_commits_count: {
    reply: optional(
      Type.Integer({
        description: 'How many commits of the target branch the source branch lacks, at most 10,000; only on request',
      }),
    ),
  },
  title_html: { reply: optional(Type.String({ description: 'Only on request' })) },
  description_html: { reply: optional(Type.String({ description: 'Only on request' })) },
} satisfies Fields;

export const mergeRequestFields = { ...simpleFields, ...listFields, ...detailFields };
