/** How merge requests leave and arrive (docs/reference/relations_export.md#merge_requests). */
import { sql } from 'kysely';
import { mergeRequestKind } from '../../../access/index.ts';
import { momentInJson } from '../../../db/index.ts';
import { membersOf } from '../../../fields/index.ts';
import {
  choice,
  column,
  columnOr,
  group,
  integer,
  lenient,
  type Members,
  parts,
  person,
  type RecordKind,
  type Relation,
  required,
  shown,
  somebody,
  time,
} from '../../../relations/index.ts';
import { notesWithAwards } from '../../conversation/award_emoji/index.ts';
import { suggestions } from '../../conversation/notes/index.ts';
import { milestoneEvents } from '../../conversation/resource_events/index.ts';
import { milestoneReference } from '../../planning/milestones/index.ts';
import {
  countDiscussion,
  countWork,
  discussionColumns,
  issuableParts,
  listColumns,
  timelogs,
  workColumns,
} from '../issuables/relation.ts';
import { mergeRequestRule } from './approvals/rule_relation.ts';
import { closingIssue } from './closing/relation.ts';
import { deploymentLink } from './deploying/relation.ts';
import { mergeRequestFields } from './fields.ts';
import { addContents, contextCommits, lastVersion, mergedCommits, versions } from './versions/relation.ts';

const assignee: RecordKind = {
  table: 'merge_request_assignees',
  is_link: true,
  distinct: ['user_id'],
  members: { user_id: somebody('user_id'), created_at: shown(sql`null`) },
  stays: {},
};

const reviewer: RecordKind = {
  table: 'merge_request_reviewers',
  is_link: true,
  distinct: ['user_id'],
  members: {
    user_id: somebody('user_id'),
    created_at: required('created_at', time),
    state: lenient(
      'state',
      choice('unreviewed', 'reviewed', 'requested_changes', 'approved', 'unapproved', 'review_started'),
      'unreviewed',
    ),
  },
  stays: {},
};

const approval: RecordKind = {
  table: 'merge_request_approvals',
  is_link: true,
  distinct: ['user_id'],
  members: { user_id: somebody('user_id'), created_at: required('created_at', time), updated_at: shown(sql`null`) },
  stays: {},
};

const own: Members = {
  ...membersOf(mergeRequestFields),
  draft: shown(sql`merge_requests.draft`),
  author_id: person('author_id'),
  merge_user_id: person('merge_user_id'),
  updated_by_id: shown(sql`null`),
  source_project_id: shown(sql`merge_requests.source_project_id`),
  target_project_id: shown(sql`merge_requests.project_id`),
  merge_status: shown(sql`merge_requests.merge_status`),
  merge_params: shown(sql`'{}'::json`),
  merge_when_pipeline_succeeds: shown(sql`false`),
  merged_commit_sha: shown(
    sql`case when state = 'merged' then coalesce(merge_commit_sha, squash_commit_sha, head_commit_id) end`,
  ),
  in_progress_merge_commit_sha: shown(sql`null`),
  diff_head_sha: shown(sql`merge_requests.head_commit_id`),
  source_branch_sha: shown(sql`merge_requests.head_commit_id`),
  target_branch_sha: shown(
    sql`(select start_commit_sha from merge_request_versions where merge_request_versions.id = merge_requests.latest_version_id)`,
  ),
  time_estimate: columnOr('time_estimate_s', integer(0), 0),
  last_edited_at: shown(sql`null`),
  last_edited_by_id: shown(sql`null`),
  approvals_before_merge: shown(sql`null`),
  metrics: group({
    merged_by_id: person('merge_user_id'),
    merged_at: column('merged_at', time),
    latest_closed_by_id: person('closed_by_id'),
    latest_closed_at: column('closed_at', time),
    created_at: shown(momentInJson('merge_requests.created_at')),
    updated_at: shown(momentInJson('merge_requests.updated_at')),
  }),
};

const mergeRequest: RecordKind = {
  table: 'merge_requests',
  owner: { project: 'project_id' },
  title: 'title',
  numbered: 'merge_requests',
  members: {
    ...own,
    milestone: milestoneReference,
    approvals: parts(approval, 'merge_request_id'),
    merge_request_assignees: parts(assignee, 'merge_request_id'),
    merge_request_reviewers: parts(reviewer, 'merge_request_id'),
    notes: parts(
      notesWithAwards(mergeRequestKind, { suggestions, note_diff_file: shown(sql`null`) }),
      'merge_request_id',
    ),
    merge_request_diff: lastVersion,
    merge_request_diffs: versions,
    merge_request_commits: mergedCommits,
    merge_request_context_commits: contextCommits,
    ...issuableParts(mergeRequestKind),
    ...timelogs(mergeRequestKind),
    resource_milestone_events: parts(milestoneEvents, 'merge_request_id'),
    approval_rules: parts(mergeRequestRule, 'merge_request_id'),
    merge_request_closing_issues: parts(closingIssue, 'merge_request_id'),
    deployments: parts(deploymentLink, 'merge_request_id'),
  },
  always: { imported_from: 'gitlab_migration' },
  stays: {
    ...listColumns,
    merge_status: 'found out again',
    checked_source_sha: 'found out again',
    checked_target_sha: 'found out again',
    source_branch_gone: 'found out again',
    prepared_at: 'the time of the import',
    should_remove_source_branch: 'said when it is merged',
    auto_merge_user_id: 'whoever wants it sets it again',
    auto_merge_parameters: 'whoever wants it sets it again',
    rebase_started_at: 'a rebase that is under way ends where it began',
    merge_unconcluded: 'a merge that is under way ends where it began',
    head_commit_id: 'that of the last version',
    latest_version_id: 'the last version',
  },
  isVisible: ({ caller }) =>
    sql`exists (select from projects where projects.id = merge_requests.project_id and ${mergeRequestKind.isVisible(caller)})`,
  derives: {
    columns: { ...discussionColumns, ...workColumns, source_project_id: 'bigint' },
    derive: async (rows, arrival, tx) => {
      await countDiscussion(rows, tx);
      await countWork(rows);
      for (const { row, value } of rows) {
        const isOwn = value.source_project_id === value.target_project_id;
        row.source_project_id = isOwn ? arrival.owner.id : (arrival.project(Number(value.source_project_id)) ?? null);
      }
      return undefined;
    },
  },
  follows: async (tx, _arrival, rows) => {
    await sql`
      update merge_requests set latest_version_id = last.id, head_commit_id = last.head_commit_sha
        from (select distinct on (merge_request_id) merge_request_id, id, head_commit_sha from merge_request_versions
               where merge_request_id = any(${rows.map(({ row }) => row.id)}::bigint[]) order by merge_request_id, id desc) last
       where merge_requests.id = last.merge_request_id`.execute(tx);
  },
};

/** The merge requests of a project. */
export const mergeRequests: Relation = {
  name: 'merge_requests',
  kind: mergeRequest,
  is_batched: true,
  complete: addContents,
};
