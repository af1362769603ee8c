/** Issues in webhooks. */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { type IssuableKind, issueKind } from '../../../../access/index.ts';
import { type Built, membersInJson, plainColumns, rowInJson } from '../../../../db/index.ts';
import type { Fields } from '../../../../fields/index.ts';
import { DateOnly, Id, Iid, nullable, optional, resource, Timestamp } from '../../../../http/index.ts';
import type { Filling, HookEventKind } from '../../../../services/index.ts';
import {
  HookPerson,
  HookProject,
  HookRepository,
  hookItem,
  type ProjectRow,
  personRow,
  personRows,
  presentPerson,
  presentProject,
  presentRepository,
  projectRow,
} from '../../../activity/hooks/index.ts';
import { hookEvent, type Refs } from '../../../instance/hook_events/index.ts';
import { HookLabel, hookLabelRows, presentHookLabel } from '../../../planning/labels/index.ts';
import { type ChangesRow, changesOfNoun, presentChanges, stateId } from './change_present.ts';

/** An issue in the bodies of webhooks. */
const HookIssue = resource('HookIssue', {
  id: Id,
  iid: Iid,
  author_id: nullable(Id),
  project_id: Id,
  title: Type.String(),
  description: nullable(Type.String()),
  state: Type.String(),
  state_id: Type.Integer(),
  type: Type.String(),
  confidential: Type.Boolean(),
  discussion_locked: nullable(Type.Boolean()),
  due_date: nullable(DateOnly),
  milestone_id: nullable(Id),
  weight: nullable(Type.Integer()),
  health_status: nullable(Type.String()),
  severity: Type.String(),
  relative_position: nullable(Type.Integer()),
  moved_to_id: nullable(Id),
  duplicated_to_id: nullable(Id),
  time_estimate: Type.Integer({ description: 'In seconds' }),
  total_time_spent: Type.Integer({ description: 'In seconds' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  closed_at: nullable(Timestamp),
  assignee_ids: Type.Array(Id),
  assignee_id: nullable(Id),
  labels: Type.Array(HookLabel),
  url: Type.String({ format: 'uri' }),
  action: optional(Type.String({ description: 'In events about the issue itself' })),
});

const computed = [
  'state_id',
  'type',
  'time_estimate',
  'total_time_spent',
  'assignee_ids',
  'assignee_id',
  'labels',
  'url',
  'action',
] as const;

const parts = {
  ...membersInJson('issues', HookIssue.properties, computed),
  ...plainColumns('issues', ['issue_type', 'time_estimate_s', 'total_time_spent_s']),
  assignee_ids: sql<number[]>`array(select user_id from issue_assignees where issue_id = issues.id order by user_id)`,
  labels: hookLabelRows(sql`select label_id from issue_labels where issue_id = issues.id`),
};
type HookIssueRow = Built<typeof parts>;

/** An issue; null without an id. */
const hookIssueRow = <I extends number | null>(id: RawBuilder<I>) => rowInJson('issues', id, parts);

const types: Record<string, string> = { issue: 'Issue', incident: 'Incident', test_case: 'Test Case', task: 'Task' };

/** @param full_path of its project */
const presentHookIssue = (
  row: HookIssueRow,
  { full_path }: Pick<ProjectRow, 'full_path'>,
  { url }: Pick<Filling, 'url'>,
): Static<typeof HookIssue> => ({
  ...row,
  state_id: stateId(row.state),
  type: types[row.issue_type]!,
  severity: row.severity.toLowerCase(),
  time_estimate: row.time_estimate_s,
  total_time_spent: row.total_time_spent_s,
  assignee_id: row.assignee_ids[0] ?? null,
  labels: row.labels.map(presentHookLabel),
  url: url + issueKind.page(full_path, row.iid),
});

/** A change of an issue or a merge request. */
export interface ItemNews {
  id: number;
  project_id: number;
  /** Null if there is no acting user. */
  actor_id: number | null;
  action: string;
  changes: ChangesRow;
  /** The ids in the lists of `changes`. */
  label_ids: number[];
  user_ids: number[];
}

/** The parts of a snapshot about a change of an issue or a merge request, besides the item. */
export const changeParts = (news: Refs<ItemNews>) => ({
  action: news.action,
  actor: personRow(news.actor_id),
  project: projectRow(news.project_id),
  changes: news.changes,
  changed_labels: hookLabelRows(sql`select unnest(${news.label_ids})`),
  changed_people: personRows(sql`select unnest(${news.user_ids})`),
});

/** What is snapped of a changed issue. */
export const issueTelling = {
  name: 'issue',
  triggers: ['issues_events', 'confidential_issues_events'] as const,
  snapshot: (news: Refs<ItemNews>) => ({
    ...changeParts(news),
    issue: hookIssueRow(news.id),
    assignees: personRows(sql`select user_id from issue_assignees where issue_id = ${news.id}`),
  }),
};

/** @param fields of issues */
export const issueEvent = (fields: Fields): HookEventKind =>
  hookEvent({
    ...issueTelling,
    summary: 'An issue was created, updated, closed or reopened',
    body: resource('IssueHookBody', {
      object_kind: Type.Literal('issue'),
      event_type: Type.Enum(['issue', 'confidential_issue']),
      user: nullable(HookPerson),
      project: HookProject,
      object_attributes: HookIssue,
      labels: Type.Array(HookLabel),
      changes: changesOfNoun('IssueHookChanges', fields, { type: Type.String() }),
      repository: HookRepository,
      assignees: Type.Array(HookPerson),
    }),
  }).presentedBy(({ actor, project, issue, action, assignees, changes, changed_labels, changed_people }, services) => ({
    object_kind: 'issue',
    event_type: services.trigger === 'confidential_issues_events' ? 'confidential_issue' : 'issue',
    user: actor && presentPerson(actor, services),
    project: presentProject(project, services),
    object_attributes: { ...presentHookIssue(issue, project, services), action },
    labels: issue.labels.map(presentHookLabel),
    changes: presentChanges(changes, { labels: changed_labels, people: changed_people }, services),
    repository: presentRepository(project, services),
    assignees: assignees.map((row) => presentPerson(row, services)),
  }));

export const issueHook = hookItem<IssuableKind, HookIssueRow>({
  kind: issueKind,
  member: 'issue',
  schema: HookIssue,
  part: hookIssueRow,
  present: presentHookIssue,
  name: ({ iid }) => iid,
  isConfidential: sql`issues.confidential`,
});
