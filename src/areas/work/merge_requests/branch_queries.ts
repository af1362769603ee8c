/** A merge request with the data that determines whether it can be merged: branches, their projects, the latest version, and project settings. */
import { sql } from 'kysely';
import { planInForce } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { protectsProject } from '../../code/protected_branches/index.ts';
import { isReached } from '../../code/security_policies/index.ts';
import { hasBlockingThreads } from './queries.ts';
import type { MergeStatus, State } from './rules.ts';

export interface Version {
  id: number;
  base_commit_sha: string | null;
  head_commit_sha: string;
  start_commit_sha: string;
}

export interface MergeFacts {
  id: number;
  iid: number;
  project_id: number;
  source_project_id: number | null;
  source_branch: string;
  target_branch: string;
  title: string;
  description: string | null;
  state: State;
  draft: boolean;
  author_id: number | null;
  /** The head of the source branch when it was last read. */
  head_commit_id: string | null;
  merge_status: MergeStatus;
  /** The heads of both branches when `merge_status` was computed. */
  checked_source_sha: string | null;
  checked_target_sha: string | null;
  source_branch_gone: boolean;
  squash: boolean;
  force_remove_source_branch: boolean | null;
  should_remove_source_branch: boolean | null;
  /** Whether `merge_after` is in the future. */
  is_early: boolean;
  blocking_discussions_resolved: boolean;
  /** Whether a reviewer requests changes, and the plan lets that block merging. */
  changes_requested: boolean;
  /** Whether it depends on an unmerged merge request, and the plan includes such dependencies. */
  is_blocked: boolean;
  /** Whether approvals may be required: a rule or a protected branch requires some, or security policies may. */
  asks_approvals: boolean;
  merge_user_id: number | null;
  auto_merge_user_id: number | null;
  auto_merge_parameters: unknown;
  /** Null before the first version. */
  version: Version | null;
  /** Null if the fork was deleted. */
  source: BranchProject | null;
  target: BranchProject & Settings;
}

interface BranchProject {
  id: number;
  storage: string;
  full_path: string;
}

interface Settings {
  default_branch: string;
  merge_method: 'merge' | 'rebase_merge' | 'ff';
  squash_option: 'never' | 'always' | 'default_on' | 'default_off';
  only_allow_merge_if_pipeline_succeeds: boolean;
  allow_merge_on_skipped_pipeline: boolean | null;
  autoclose_referenced_issues: boolean;
  merge_commit_template: string | null;
  squash_commit_template: string | null;
}

const members = (table: string, columns: readonly string[]) =>
  sql`json_build_object(${sql.join(columns.flatMap((column) => [sql.lit(column), sql.ref(`${table}.${column}`)]))})`;

const place = ['id', 'storage', 'full_path'] as const;
const settings = [
  ...(['default_branch', 'merge_method', 'squash_option', 'only_allow_merge_if_pipeline_succeeds'] as const),
  ...([
    'allow_merge_on_skipped_pipeline',
    'autoclose_referenced_issues',
    'merge_commit_template',
    'squash_commit_template',
  ] as const),
];

/** The facts of the existing merge requests among these ids, ordered by id. */
export async function mergeFacts(db: Database, ids: readonly number[]): Promise<MergeFacts[]> {
  if (ids.length === 0) return [];
  const own = [
    ...([
      'id',
      'iid',
      'project_id',
      'source_project_id',
      'source_branch',
      'target_branch',
      'title',
      'description',
      'state',
    ] as const),
    ...(['draft', 'author_id', 'head_commit_id', 'merge_status', 'checked_source_sha', 'checked_target_sha'] as const),
    ...(['source_branch_gone', 'squash', 'force_remove_source_branch', 'should_remove_source_branch'] as const),
    ...(['merge_user_id', 'auto_merge_user_id', 'auto_merge_parameters'] as const),
  ];
  const { rows } = await sql<MergeFacts>`
    select ${sql.join(own.map((column) => sql.ref(`merge_requests.${column}`)))},
           coalesce(merge_after > now(), false) as is_early,
           not ${hasBlockingThreads('merge_requests', 'target')} as blocking_discussions_resolved,
           (${planInForce} <> 'free' and exists (select from merge_request_reviewers
              where merge_request_id = merge_requests.id and merge_request_reviewers.state = 'requested_changes')) as changes_requested,
           (${planInForce} <> 'free' and exists (select from merge_request_blocks
              join merge_requests blocking on blocking.id = merge_request_blocks.blocking_id
             where merge_request_blocks.blocked_id = merge_requests.id and blocking.state <> 'merged')) as is_blocked,
           exists (select from approval_rules rule where (rule.project_id = target.id or rule.merge_request_id = merge_requests.id)
                                                     and rule.approvals_required > 0)
           or exists (select from protected_branches where ${protectsProject(sql`target.id`)} and code_owner_approval_required)
           or ${isReached(sql`target.id`)} as asks_approvals,
           case when version.id is not null then ${members('version', ['id', 'base_commit_sha', 'head_commit_sha', 'start_commit_sha'])} end as version,
           case when source.id is not null then ${members('source', place)} end as source,
           ${members('target', [...place, ...settings])} as target
      from merge_requests join projects target on target.id = merge_requests.project_id
           left join projects source on source.id = merge_requests.source_project_id
           left join merge_request_versions version on version.id = merge_requests.latest_version_id
     where merge_requests.id = any(${ids}::bigint[]) order by merge_requests.id`.execute(db);
  return rows;
}

/**
 * The facts of one merge request.
 * @throws Error if it was deleted after access was granted
 */
export async function factsOf(db: Database, id: number): Promise<MergeFacts> {
  const [facts] = await mergeFacts(db, [id]);
  if (!facts) throw new Error(`the merge request ${id} is gone`);
  return facts;
}
