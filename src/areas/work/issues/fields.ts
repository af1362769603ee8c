/** The fields of issues: all members of replies, in their order, and all parameters (docs/reference/issues.md, docs/adding_a_field.md). */
import { Type } from 'typebox';
import type { Field } from '../../../fields/index.ts';
import {
  ClearableList,
  CommaList,
  checked,
  DateOnly,
  deprecated,
  Id,
  IdOf,
  longText,
  notEmpty,
  nullable,
  optional,
  since,
  Timestamp,
} from '../../../http/index.ts';
import {
  choice,
  column,
  columnOr,
  day,
  flag,
  integer,
  lenient,
  markdown,
  required,
  text,
  time,
} from '../../../relations/index.ts';
import { descriptionReasons, titleReasons } from '../../../texts/index.ts';
import { UserBasic } from '../../people/users/index.ts';
import { Iteration } from '../../planning/iterations/index.ts';
import { LabelDetails } from '../../planning/labels/index.ts';
import { Milestone } from '../../planning/milestones/index.ts';
import { EpicInIssue } from '../epics/present.ts';
import { TimeStats } from '../issuables/time/present.ts';
import { weightReasons } from './rules.ts';

export interface IssueField extends Field {
  /**
   * Who may set it. By default members of the project on a new issue, and members from Planner up on an existing one; `anyone`: also its author and others who may create or
   * edit issues; `anyone_at_first`: the same on a new issue only.
   */
  set_by?: 'anyone' | 'anyone_at_first';
}

const kinds = ['issue', 'incident', 'test_case', 'task'] as const;
export const healths = ['on_track', 'needs_attention', 'at_risk'] as const;

/** The type of an issue in the format of newer servers. */
const typeOf = (value: Record<string, unknown>): unknown =>
  (value.work_item_type as { base_type?: unknown } | null | undefined)?.base_type;

const EpicNumber = (options = {}) => since('premium', nullable(IdOf({ minimum: 0, ...options })));

export const issueFields = {
  id: { column: 'kept', reply: Id },
  iid: { column: 'kept', reply: Type.Integer(), relation: required('iid', integer(1, 1_000_000_000)) },
  project_id: { column: 'kept', reply: Id },
  title: {
    column: 'given',
    input: checked(Type.String({ description: 'At most 255 characters' }), titleReasons),
    set_by: 'anyone',
    is_required: true,
    reply: Type.String(),
    relation: required('title', text(titleReasons)),
    hook: true,
    control: { label: 'Title', is_required: true, maximum: 255, is_clearable: true },
  },
  description: {
    column: 'given',
    input: longText(
      checked(nullable(Type.String({ description: 'At most 1,048,576 characters' })), descriptionReasons),
    ),
    set_by: 'anyone',
    reply: nullable(Type.String()),
    relation: column('description', markdown(descriptionReasons)),
    hook: true,
    control: { label: 'Description', kind: 'markdown', is_clearable: true, help: 'Markdown.' },
  },
  state: {
    column: 'kept',
    reply: Type.Enum(['opened', 'closed']),
    relation: columnOr('state', choice('opened', 'closed'), 'opened'),
  },
  state_event: { update: Type.Enum(['close', 'reopen']), set_by: 'anyone' },
  created_at: { column: 'kept', reply: Timestamp, relation: required('created_at', time) },
  updated_at: { column: 'kept', reply: Timestamp, relation: required('updated_at', time) },
  closed_at: { column: 'kept', reply: nullable(Timestamp), relation: column('closed_at', time) },
  closed_by: { reply: nullable(UserBasic) },
  assignee_ids: { input: ClearableList(Id) },
  assignee_id: { input: deprecated('use `assignee_ids`', nullable(Type.Integer())) },
  milestone_id: { column: 'given', input: nullable(Type.Integer({ description: '0: none' })), hook: true },
  labels: {
    input: ClearableList(Type.String({ description: 'Titles' })),
    reply: Type.Array(Type.Union([Type.String(), LabelDetails])),
  },
  add_labels: { input: CommaList(Type.String({ description: 'Titles of labels to add' })) },
  remove_labels: { input: CommaList(Type.String({ description: 'Titles of labels to remove' })) },
  milestone: { reply: nullable(Milestone) },
  assignees: { reply: Type.Array(UserBasic) },
  author: { reply: nullable(UserBasic) },
  type: { reply: Type.String({ description: '`issue_type` in upper case' }) },
  assignee: { reply: deprecated('use `assignees`', nullable(UserBasic)) },
  user_notes_count: { column: 'kept', reply: Type.Integer() },
  merge_requests_count: { reply: Type.Integer() },
  upvotes: { column: 'kept', reply: Type.Integer() },
  downvotes: { column: 'kept', reply: Type.Integer() },
  due_date: {
    column: 'given',
    input: nullable(DateOnly),
    reply: nullable(DateOnly),
    relation: column('due_date', day),
    hook: true,
    control: { label: 'Due date', kind: 'date', is_clearable: true },
  },
  confidential: {
    column: 'given',
    input: notEmpty(Type.Boolean()),
    set_by: 'anyone_at_first',
    reply: Type.Boolean(),
    relation: columnOr('confidential', flag, false),
    hook: true,
    control: { label: 'Confidential: only members can see it', kind: 'checkbox' },
  },
  discussion_locked: {
    column: 'given',
    input: Type.Boolean(),
    reply: nullable(Type.Boolean()),
    relation: column('discussion_locked', flag),
    hook: true,
    control: { label: 'Locked: only members can comment', kind: 'checkbox', only_edits: true },
  },
  issue_type: {
    column: 'given',
    input: Type.Enum([...kinds]),
    set_by: 'anyone',
    reply: Type.Enum([...kinds]),
    relation: lenient('issue_type', choice(...kinds), 'issue', typeOf),
  },
  web_url: { reply: Type.String() },
  time_stats: { reply: TimeStats },
  time_estimate_s: { column: 'kept' },
  total_time_spent_s: { column: 'kept' },
  task_count: { column: 'kept' },
  completed_task_count: { column: 'kept' },
  task_completion_status: { reply: Type.Object({ count: Type.Integer(), completed_count: Type.Integer() }) },
  has_tasks: { reply: Type.Boolean() },
  task_status: { reply: optional(Type.String()) },
  weight: {
    column: 'given',
    input: since('premium', checked(nullable(Type.Integer()), weightReasons)),
    reply: since('premium', nullable(Type.Integer())),
    relation: column('weight', integer(0)),
    hook: true,
    control: { label: 'Weight', kind: 'number', is_clearable: true },
  },
  blocking_issues_count: { reply: since('premium', Type.Integer()) },
  iteration_id: {
    column: 'given',
    update: since('premium', nullable(Type.Integer({ minimum: 0, description: '0: none' }))),
    control: { label: 'Iteration', kind: 'select' },
  },
  health_status: {
    column: 'given',
    update: since('ultimate', nullable(Type.Enum([...healths]))),
    reply: since('ultimate', nullable(Type.Enum([...healths]))),
    relation: lenient('health_status', choice(...healths), null),
    hook: true,
    control: {
      label: 'Health',
      kind: 'select',
      is_clearable: 'null',
      options: [
        { value: '', label: 'Not said' },
        { value: 'on_track', label: 'On track' },
        { value: 'needs_attention', label: 'Needs attention' },
        { value: 'at_risk', label: 'At risk' },
      ],
    },
  },
  epic_id: { input: EpicNumber({ description: '0: none' }) },
  epic: { reply: optional(since('premium', nullable(EpicInIssue))) },
  epic_iid: {
    input: deprecated('use `epic_id`', EpicNumber()),
    reply: optional(since('premium', deprecated('use `epic.iid`', nullable(Type.Integer())))),
  },
  iteration: { reply: optional(since('premium', nullable(Iteration))) },
  _links: {
    reply: Type.Object({
      self: Type.String(),
      notes: Type.String(),
      award_emoji: Type.String(),
      project: Type.String(),
      closed_as_duplicate_of: nullable(Type.String()),
    }),
  },
  references: { reply: Type.Object({ short: Type.String(), relative: Type.String(), full: Type.String() }) },
  severity: {
    column: 'given',
    reply: Type.String(),
    relation: lenient('severity', choice('UNKNOWN', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL'), 'UNKNOWN'),
    hook: true,
  },
  subscribed: { reply: optional(Type.Boolean()) },
  moved_to_id: { column: 'kept', reply: nullable(Id) },
  duplicated_to_id: { column: 'kept' },
  imported: { reply: Type.Boolean() },
  imported_from: { column: 'kept', reply: Type.String() },
  service_desk_reply_to: { reply: nullable(Type.String()) },
  error_tracking_error_id: {
    reply: nullable(IdOf({ description: 'The error of the project that the issue was created from' })),
  },
} satisfies Record<string, IssueField>;
