/** Merge requests in webhooks. */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { type IssuableKind, mergeRequestKind } from '../../../../access/index.ts';
import { type Built, membersInJson, plainColumns, rowInJson } from '../../../../db/index.ts';
import type { Fields } from '../../../../fields/index.ts';
import { Id, Iid, nullable, optional, resource, Timestamp } from '../../../../http/index.ts';
import type { Filling, HookEventKind } from '../../../../services/index.ts';
import {
  HookCommit,
  HookPerson,
  HookProject,
  HookRepository,
  hookItem,
  oneCommit,
  personRows,
  presentPerson,
  presentProject,
  presentRepository,
  projectRow,
} from '../../../activity/hooks/index.ts';
import { hookEvent, type Refs } from '../../../instance/hook_events/index.ts';
import { HookLabel, hookLabelRows, presentHookLabel } from '../../../planning/labels/index.ts';
import { changesOfNoun, presentChanges, stateId } from './change_present.ts';
import { changeParts, type ItemNews } from './issue_present.ts';

/** A merge request in the bodies of webhooks. */
const HookMergeRequest = resource('HookMergeRequest', {
  id: Id,
  iid: Iid,
  author_id: nullable(Id),
  title: Type.String(),
  description: nullable(Type.String()),
  state: Type.String(),
  state_id: Type.Integer(),
  source_branch: Type.String(),
  target_branch: Type.String(),
  source_project_id: nullable(Id),
  target_project_id: Id,
  draft: Type.Boolean(),
  work_in_progress: Type.Boolean(),
  milestone_id: nullable(Id),
  merge_status: Type.String(),
  merge_error: nullable(Type.String()),
  merge_commit_sha: nullable(Type.String()),
  squash_commit_sha: nullable(Type.String()),
  merge_user_id: nullable(Id),
  merge_when_pipeline_succeeds: Type.Boolean(),
  time_estimate: Type.Integer({ description: 'In seconds' }),
  total_time_spent: Type.Integer({ description: 'In seconds' }),
  created_at: Timestamp,
  updated_at: Timestamp,
  prepared_at: nullable(Timestamp),
  assignee_ids: Type.Array(Id),
  assignee_id: nullable(Id),
  reviewer_ids: Type.Array(Id),
  labels: Type.Array(HookLabel),
  source: nullable(HookProject),
  target: HookProject,
  last_commit: nullable(HookCommit),
  url: Type.String({ format: 'uri' }),
  action: optional(Type.String({ description: 'In events about the merge request itself' })),
  oldrev: optional(Type.String({ description: 'The previous head of the source branch, if it has moved' })),
  system: optional(Type.Literal(true)),
  system_action: optional(
    Type.Enum(['approvals_reset_on_push', 'code_owner_approvals_reset_on_push'], {
      description: 'Why the server has revoked approvals',
    }),
  ),
});

const computed = [
  'state_id',
  'target_project_id',
  'work_in_progress',
  'merge_when_pipeline_succeeds',
  'time_estimate',
  'total_time_spent',
  'assignee_ids',
  'assignee_id',
  'reviewer_ids',
  'labels',
  'source',
  'target',
  'last_commit',
  'url',
  'action',
  'oldrev',
  'system',
  'system_action',
] as const;

const userIds = (table: string) =>
  sql<
    number[]
  >`array(select user_id from ${sql.table(table)} where merge_request_id = merge_requests.id order by user_id)`;

const parts = {
  ...membersInJson('merge_requests', HookMergeRequest.properties, computed),
  ...plainColumns('merge_requests', ['auto_merge_user_id', 'time_estimate_s', 'total_time_spent_s', 'head_commit_id']),
  assignee_ids: userIds('merge_request_assignees'),
  reviewer_ids: userIds('merge_request_reviewers'),
  labels: hookLabelRows(sql`select label_id from merge_request_labels where merge_request_id = merge_requests.id`),
  source: projectRow(sql.ref<number | null>('merge_requests.source_project_id')),
  target: projectRow(sql.ref<number>('merge_requests.project_id')),
};
type HookMergeRequestRow = Built<typeof parts>;

/** A merge request; null without an id. */
const hookMergeRequestRow = <I extends number | null>(id: RawBuilder<I>) => rowInJson('merge_requests', id, parts);

async function presentHookMergeRequest(
  row: HookMergeRequestRow,
  services: Filling,
): Promise<Static<typeof HookMergeRequest>> {
  const { source, target } = row;
  return {
    ...row,
    state_id: stateId(row.state),
    target_project_id: target.id,
    work_in_progress: row.draft,
    merge_when_pipeline_succeeds: row.auto_merge_user_id !== null,
    time_estimate: row.time_estimate_s,
    total_time_spent: row.total_time_spent_s,
    assignee_id: row.assignee_ids[0] ?? null,
    labels: row.labels.map(presentHookLabel),
    source: source && presentProject(source, services),
    target: presentProject(target, services),
    last_commit: await oneCommit(services, source ?? target, row.head_commit_id),
    url: services.url + mergeRequestKind.page(target.full_path, row.iid),
  };
}

/** Members that only some changes of a merge request have. */
export interface MergeRequestNews {
  /** The previous head of the source branch, if it has moved. */
  oldrev?: string | null;
  /** Why the server has revoked approvals. */
  system_action?: 'approvals_reset_on_push' | 'code_owner_approvals_reset_on_push';
}

type ChangedMergeRequest = ItemNews & {
  oldrev: string | null;
  system_action: MergeRequestNews['system_action'] | null;
};

/** What is snapped of a changed merge request. */
export const mergeRequestTelling = {
  name: 'merge_request',
  triggers: ['merge_requests_events'] as const,
  snapshot: (news: Refs<ChangedMergeRequest>) => ({
    ...changeParts(news),
    oldrev: news.oldrev,
    system_action: news.system_action,
    merge_request: hookMergeRequestRow(news.id),
    assignees: personRows(sql`select user_id from merge_request_assignees where merge_request_id = ${news.id}`),
    reviewers: personRows(sql`select user_id from merge_request_reviewers where merge_request_id = ${news.id}`),
  }),
};

/** @param fields of merge requests */
export const mergeRequestEvent = (fields: Fields): HookEventKind =>
  hookEvent({
    ...mergeRequestTelling,
    summary: 'A merge request was created, updated, approved, merged, closed or reopened',
    body: resource('MergeRequestHookBody', {
      object_kind: Type.Literal('merge_request'),
      event_type: Type.Literal('merge_request'),
      user: nullable(HookPerson),
      project: HookProject,
      object_attributes: HookMergeRequest,
      labels: Type.Array(HookLabel),
      changes: changesOfNoun('MergeRequestHookChanges', fields, {
        draft: Type.Boolean(),
        reviewers: Type.Array(HookPerson),
      }),
      repository: HookRepository,
      assignees: Type.Array(HookPerson),
      reviewers: Type.Array(HookPerson),
    }),
  }).presentedBy(async ({ actor, project, merge_request, action, oldrev, system_action, ...lists }, services) => {
    const { assignees, reviewers, changes, changed_labels, changed_people } = lists;
    const attributes = {
      ...(await presentHookMergeRequest(merge_request, services)),
      action,
      ...(oldrev === null ? {} : { oldrev }),
      ...(system_action ? { system: true as const, system_action } : {}),
    };
    return {
      object_kind: 'merge_request',
      event_type: 'merge_request',
      user: actor && presentPerson(actor, services),
      project: presentProject(project, services),
      object_attributes: attributes,
      labels: merge_request.labels.map(presentHookLabel),
      changes: presentChanges(changes, { labels: changed_labels, people: changed_people }, services),
      repository: presentRepository(project, services),
      assignees: assignees.map((row) => presentPerson(row, services)),
      reviewers: reviewers.map((row) => presentPerson(row, services)),
    };
  });

export const mergeRequestHook = hookItem<IssuableKind, HookMergeRequestRow>({
  kind: mergeRequestKind,
  member: 'merge_request',
  schema: HookMergeRequest,
  part: hookMergeRequestRow,
  present: (row, _project, services) => presentHookMergeRequest(row, services),
  name: ({ iid }) => iid,
});
