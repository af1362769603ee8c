/** Issues, merge requests, snippets and comments as events show them: expressions of type `json`, with holes as in `facts_queries.ts`. */
import { type RawBuilder, sql } from 'kysely';
import { momentInJson } from '../../../db/index.ts';
import { commitFacts, labelsFacts, pageFacts, peopleFacts, personFacts, projectFacts, repositoryFacts } from './facts_queries.ts';

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

/** @param action what happened; null for an issue that something else is about */
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
     'url', ${pageFacts(sql`issues.project_id`, sql`'/-/issues/' || issues.iid`)} ${action === null ? sql`` : sql`, 'action', ${sql.lit(action)}`})
     from issues where issues.id = ${id})`;

/** What is told of some changes of a merge request only. */
export interface MergeRequestNews {
  /** Where the source branch was, if it has moved. */
  oldrev?: string | null;
  /** Why the server itself has taken approvals back. */
  system_action?: 'approvals_reset_on_push' | 'code_owner_approvals_reset_on_push';
}

/** @param action what happened; null for a merge request that something else is about */
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
     'url', ${pageFacts(sql`m.project_id`, sql`'/-/merge_requests/' || m.iid`)} ${action === null ? sql`` : sql`, 'action', ${sql.lit(action)}`}
     ${oldrev === null ? sql`` : sql`, 'oldrev', ${oldrev}::text`}
     ${system_action === undefined ? sql`` : sql`, 'system', true, 'system_action', ${sql.lit(system_action)}`})
     from merge_requests m where m.id = ${id})`;

const snippetAttributes = (id: RawBuilder<unknown>) => sql`
  (select json_build_object('id', snippets.id, 'title', snippets.title, 'description', snippets.description, 'author_id', snippets.author_id,
                            'project_id', snippets.project_id, 'created_at', ${momentInJson('snippets.created_at')},
                            'updated_at', ${momentInJson('snippets.updated_at')}, 'file_name', snippets.paths[1], 'type', 'ProjectSnippet',
                            'url', ${pageFacts(sql`snippets.project_id`, sql`'/-/snippets/' || snippets.id`)})
     from snippets where snippets.id = ${id})`;

/** The beginning of every event of a project. */
const head = (kind: string, event_type: string, actor_id: number | null, project_id: number) => sql`
  'object_kind', ${sql.lit(kind)}, 'event_type', ${sql.lit(event_type)}, 'user', ${personFacts(sql`${actor_id}::bigint`)}, 'project', ${projectFacts(project_id)}`;

export interface ItemChange {
  id: number;
  project_id: number;
  /** Null for nobody. */
  actor_id: number | null;
  action: string;
  /** An expression of type `json`. */
  changes: RawBuilder<unknown>;
}

/** @param confidential whether it is, or was until now, confidential */
export const issueFacts = (
  { id, project_id, actor_id, action, changes }: ItemChange,
  confidential: boolean,
): RawBuilder<unknown> => sql`
  case when exists (select from issues where id = ${id}) then json_build_object(
    ${head('issue', confidential ? 'confidential_issue' : 'issue', actor_id, project_id)}, 'object_attributes', ${issueAttributes(id, action)},
    'labels', ${issueLabels(sql`${id}`)}, 'changes', ${changes}, 'repository', ${repositoryFacts(project_id)},
    'assignees', ${peopleFacts(idsOf('issue_assignees', 'issue_id', 'user_id', sql`${id}`))}) end`;

/** @param more as for `mergeRequestAttributes` */
export const mergeRequestFacts = (
  { id, project_id, actor_id, action, changes }: ItemChange,
  more: MergeRequestNews = {},
): RawBuilder<unknown> => sql`
  case when exists (select from merge_requests where id = ${id}) then json_build_object(
    ${head('merge_request', 'merge_request', actor_id, project_id)}, 'object_attributes', ${mergeRequestAttributes(id, action, more)},
    'labels', ${mergeRequestLabels(sql`${id}`)}, 'changes', ${changes}, 'repository', ${repositoryFacts(project_id)},
    'assignees', ${peopleFacts(idsOf('merge_request_assignees', 'merge_request_id', 'user_id', sql`${id}`))},
    'reviewers', ${peopleFacts(idsOf('merge_request_reviewers', 'merge_request_id', 'user_id', sql`${id}`))}) end`;

const noteUrl = sql`
  case when notes.issue_id is not null then
         ${pageFacts(sql`(select project_id from issues where id = notes.issue_id)`, sql`'/-/issues/' || (select iid from issues where id = notes.issue_id) || '#note_' || notes.id`)}
       when notes.merge_request_id is not null then
         ${pageFacts(
           sql`(select project_id from merge_requests where id = notes.merge_request_id)`,
           sql`'/-/merge_requests/' || (select iid from merge_requests where id = notes.merge_request_id) || '#note_' || notes.id`,
         )}
       when notes.snippet_id is not null then
         ${pageFacts(sql`(select project_id from snippets where id = notes.snippet_id)`, sql`'/-/snippets/' || notes.snippet_id || '#note_' || notes.id`)}
       else ${pageFacts(sql`notes.project_id`, sql`'/-/commit/' || notes.commit_id || '#note_' || notes.id`)} end`;

/**
 * @param action `create` or `update`
 * @param confidential whether not everyone who reads the project may read it
 */
export const noteFacts = (
  { id, project_id, actor_id, action }: Omit<ItemChange, 'changes'>,
  confidential: boolean,
): RawBuilder<unknown> => sql`
  (select json_build_object(
     ${head('note', confidential ? 'confidential_note' : 'note', actor_id, project_id)}, 'project_id', ${project_id}::bigint,
     'object_attributes', json_build_object(
       'id', notes.id, 'note', notes.body, 'description', notes.body, 'author_id', notes.author_id, 'project_id', ${project_id}::bigint,
       'noteable_type', case when notes.issue_id is not null then 'Issue' when notes.merge_request_id is not null then 'MergeRequest'
                             when notes.snippet_id is not null then 'Snippet' else 'Commit' end,
       'noteable_id', coalesce(notes.issue_id, notes.merge_request_id, notes.snippet_id), 'commit_id', coalesce(notes.commit_id, notes.diff_commit_id),
       'discussion_id', notes.discussion_id, 'type', notes.type, 'system', notes.system, 'internal', notes.internal, 'attachment', null,
       'line_code', notes.position ->> 'line_code', 'position', notes.position, 'original_position', notes.original_position,
       'resolved_at', ${momentInJson('notes.resolved_at')}, 'resolved_by_id', notes.resolved_by_id,
       'created_at', ${momentInJson('notes.created_at')}, 'updated_at', ${momentInJson('notes.updated_at')}, 'action', ${sql.lit(action)}, 'url', ${noteUrl}),
     'repository', ${repositoryFacts(project_id)}, 'issue', ${issueAttributes(sql`notes.issue_id`)},
     'merge_request', ${mergeRequestAttributes(sql`notes.merge_request_id`)}, 'snippet', ${snippetAttributes(sql`notes.snippet_id`)},
     'commit', ${commitFacts(sql`notes.project_id`, sql`notes.commit_id`)})
     from notes where notes.id = ${id} and notes.epic_id is null)`;

/** What a reaction is on, of a row of `news`. */
export const awardedFacts = sql`
  'issue', ${issueAttributes(sql`news.issue_id`)}, 'merge_request', ${mergeRequestAttributes(sql`news.merge_request_id`)},
  'project_snippet', ${snippetAttributes(sql`news.snippet_id`)}`;
