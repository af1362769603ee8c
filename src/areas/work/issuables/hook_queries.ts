/** Issues and merge requests in webhooks: expressions of type `json`, with holes as in `activity/hooks/facts_queries.ts`. */
import { type RawBuilder, sql } from 'kysely';
import { type IssuableKind, issueKind, mergeRequestKind } from '../../../access/index.ts';
import { momentInJson } from '../../../db/index.ts';
import {
  commitFacts,
  eventHead,
  type HookItem,
  pageFacts,
  peopleFacts,
  projectFacts,
  repositoryFacts,
} from '../../activity/hooks/index.ts';
import { labelsFacts } from '../../planning/labels/index.ts';

const stateId = (table: string) =>
  sql`array_position(array['opened', 'closed', 'merged', 'locked'], ${sql.ref(`${table}.state`)})`;

/** The ids of users or labels of an item. */
const idsOf = (table: string, of: string, column: string, id: RawBuilder<unknown>) =>
  sql`select ${sql.ref(column)} from ${sql.table(table)} where ${sql.ref(of)} = ${id}`;

const issueLabels = (id: RawBuilder<unknown>) => labelsFacts(idsOf('issue_labels', 'issue_id', 'label_id', id));
const mergeRequestLabels = (id: RawBuilder<unknown>) =>
  labelsFacts(idsOf('merge_request_labels', 'merge_request_id', 'label_id', id));

const assigneeIds = (table: string, of: string, id: RawBuilder<unknown>) =>
  sql`array(${idsOf(table, of, 'user_id', id)} order by user_id)`;

/** @param action the action; null in an event about something else */
const issueAttributes = (id: RawBuilder<unknown> | number, action: string | null = null): RawBuilder<unknown> => sql`
  (select json_build_object(
     'id', issues.id, 'iid', issues.iid, 'author_id', issues.author_id, 'project_id', issues.project_id, 'title', issues.title,
     'description', issues.description, 'state', issues.state, 'state_id', ${stateId('issues')}, 'type', initcap(replace(issues.issue_type, '_', ' ')),
     'confidential', issues.confidential, 'discussion_locked', issues.discussion_locked, 'due_date', issues.due_date, 'milestone_id', issues.milestone_id,
     'weight', issues.weight, 'health_status', issues.health_status, 'severity', lower(issues.severity), 'relative_position', issues.relative_position,
     'moved_to_id', issues.moved_to_id, 'duplicated_to_id', issues.duplicated_to_id, 'time_estimate', issues.time_estimate_s,
     'total_time_spent', issues.total_time_spent_s, 'created_at', ${momentInJson('issues.created_at')}, 'updated_at', ${momentInJson('issues.updated_at')},
     'closed_at', ${momentInJson('issues.closed_at')}, 'assignee_ids', ${assigneeIds('issue_assignees', 'issue_id', sql`issues.id`)},
     'assignee_id', (select min(user_id) from issue_assignees where issue_id = issues.id), 'labels', ${issueLabels(sql`issues.id`)},
     'url', ${pageFacts(issueKind.page, sql`issues.project_id`, sql`issues.iid`)} ${action === null ? sql`` : sql`, 'action', ${sql.lit(action)}`})
     from issues where issues.id = ${id})`;

/** Members that only some changes of a merge request have. */
export interface MergeRequestNews {
  /** The previous head of the source branch, if it has moved. */
  oldrev?: string | null;
  /** Why the server has revoked approvals. */
  system_action?: 'approvals_reset_on_push' | 'code_owner_approvals_reset_on_push';
}

/** @param action the action; null in an event about something else */
const mergeRequestAttributes = (
  id: RawBuilder<unknown> | number,
  action: string | null = null,
  { oldrev = null, system_action }: MergeRequestNews = {},
): RawBuilder<unknown> => sql`
  (select json_build_object(
     'id', m.id, 'iid', m.iid, 'author_id', m.author_id, 'title', m.title, 'description', m.description, 'state', m.state, 'state_id', ${stateId('m')},
     'source_branch', m.source_branch, 'target_branch', m.target_branch, 'source_project_id', m.source_project_id, 'target_project_id', m.project_id,
     'draft', m.draft, 'work_in_progress', m.draft, 'milestone_id', m.milestone_id, 'merge_status', m.merge_status, 'merge_error', m.merge_error,
     'merge_commit_sha', m.merge_commit_sha, 'squash_commit_sha', m.squash_commit_sha, 'merge_user_id', m.merge_user_id,
     'merge_when_pipeline_succeeds', m.auto_merge_user_id is not null, 'time_estimate', m.time_estimate_s, 'total_time_spent', m.total_time_spent_s,
     'created_at', ${momentInJson('m.created_at')}, 'updated_at', ${momentInJson('m.updated_at')}, 'prepared_at', ${momentInJson('m.prepared_at')},
     'assignee_ids', ${assigneeIds('merge_request_assignees', 'merge_request_id', sql`m.id`)},
     'assignee_id', (select min(user_id) from merge_request_assignees where merge_request_id = m.id),
     'reviewer_ids', ${assigneeIds('merge_request_reviewers', 'merge_request_id', sql`m.id`)}, 'labels', ${mergeRequestLabels(sql`m.id`)},
     'source', ${projectFacts(sql`m.source_project_id`)}, 'target', ${projectFacts(sql`m.project_id`)},
     'last_commit', ${commitFacts(sql`coalesce(m.source_project_id, m.project_id)`, sql`m.head_commit_id`)},
     'url', ${pageFacts(mergeRequestKind.page, sql`m.project_id`, sql`m.iid`)} ${action === null ? sql`` : sql`, 'action', ${sql.lit(action)}`}
     ${oldrev === null ? sql`` : sql`, 'oldrev', ${oldrev}::text`}
     ${system_action === undefined ? sql`` : sql`, 'system', true, 'system_action', ${sql.lit(system_action)}`})
     from merge_requests m where m.id = ${id})`;

export interface ItemChange {
  id: number;
  project_id: number;
  /** Null if there is no acting user. */
  actor_id: number | null;
  action: string;
  /** An expression of type `json`. */
  changes: RawBuilder<unknown>;
}

/** @param confidential whether it is or was confidential */
export const issueFacts = (
  { id, project_id, actor_id, action, changes }: ItemChange,
  confidential: boolean,
): RawBuilder<unknown> => sql`
  case when exists (select from issues where id = ${id}) then json_build_object(
    ${eventHead('issue', confidential ? 'confidential_issue' : 'issue', actor_id, project_id)}, 'object_attributes', ${issueAttributes(id, action)},
    'labels', ${issueLabels(sql`${id}`)}, 'changes', ${changes}, 'repository', ${repositoryFacts(project_id)},
    'assignees', ${peopleFacts(idsOf('issue_assignees', 'issue_id', 'user_id', sql`${id}`))}) end`;

/** @param more as in `mergeRequestAttributes` */
export const mergeRequestFacts = (
  { id, project_id, actor_id, action, changes }: ItemChange,
  more: MergeRequestNews = {},
): RawBuilder<unknown> => sql`
  case when exists (select from merge_requests where id = ${id}) then json_build_object(
    ${eventHead('merge_request', 'merge_request', actor_id, project_id)}, 'object_attributes', ${mergeRequestAttributes(id, action, more)},
    'labels', ${mergeRequestLabels(sql`${id}`)}, 'changes', ${changes}, 'repository', ${repositoryFacts(project_id)},
    'assignees', ${peopleFacts(idsOf('merge_request_assignees', 'merge_request_id', 'user_id', sql`${id}`))},
    'reviewers', ${peopleFacts(idsOf('merge_request_reviewers', 'merge_request_id', 'user_id', sql`${id}`))}) end`;

/** The number of the issue or merge request referenced by a row. */
const numberIn = ({ table, column }: IssuableKind, row: string) => sql`
  (select iid from ${sql.table(table)} where id = ${sql.ref(`${row}.${column}`)})`;

export const issueHook: HookItem<IssuableKind> = {
  kind: issueKind,
  member: 'issue',
  facts: (row) => issueAttributes(sql.ref(`${row}.issue_id`)),
  name: (row) => numberIn(issueKind, row),
  isConfidential: sql`issues.confidential`,
};

export const mergeRequestHook: HookItem<IssuableKind> = {
  kind: mergeRequestKind,
  member: 'merge_request',
  facts: (row) => mergeRequestAttributes(sql.ref(`${row}.merge_request_id`)),
  name: (row) => numberIn(mergeRequestKind, row),
};
