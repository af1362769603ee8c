/** Determines whether a merge request can be merged now, and if not, why (docs/reference/merge_requests.md#merge-status). */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import {
  fetchCommit,
  mergeBase,
  mergeCommits,
  objectHeader,
  type Repository,
  repositoryOf,
  resolveBranch,
} from '../../../../git/index.ts';
import type { Services } from '../../../../http/index.ts';
import { notifying } from '../../../activity/notifications/index.ts';
import { statusOfCommit } from '../../../code/pipelines/index.ts';
import { approvalBlocker } from '../approvals/rules.ts';
import { approvalStateOf } from '../approvals/state_git.ts';
import { factsOf, type MergeFacts } from '../branch_queries.ts';
import type { MergeStatus } from '../rules.ts';
import { blockerOf, type Fit, type Pipeline } from './status_rules.ts';

/** The relation between two branches, and their heads. */
export interface Check {
  /** The head of the source branch, fetched into the target repository; undefined if the branch is missing. */
  source_head: string | undefined;
  target_head: string | undefined;
  fit: Fit;
  /** The tree of the merge, if there are no conflicts and it had to be computed. */
  tree_id?: string;
}

type Places = Pick<Services, 'storages'>;

/** The head of the source branch, fetched into the target repository; undefined if the branch or its project is missing. */
async function sourceHead(
  services: Places,
  { source, source_branch, target }: MergeFacts,
): Promise<string | undefined> {
  if (!source) return undefined;
  const from = repositoryOf(services, source);
  const head = await resolveBranch(from, source_branch);
  if (head === undefined || source.id === target.id) return head;
  const into = repositoryOf(services, target);
  if (!(await objectHeader(into, head))) await fetchCommit(from, into, head);
  return head;
}

/**
 * Compares the current branches of a merge request.
 * @param wants_tree whether the tree of the merge is needed even if an earlier check found no conflicts
 */
export async function checkBranches(
  services: Places,
  facts: MergeFacts,
  { wants_tree = false }: { wants_tree?: boolean } = {},
): Promise<Check> {
  const into = repositoryOf(services, facts.target);
  const [source_head, target_head] = await Promise.all([
    sourceHead(services, facts),
    resolveBranch(into, facts.target_branch),
  ]);
  if (source_head === undefined || target_head === undefined) return { source_head, target_head, fit: 'no_commits' };
  const heads = { source_head, target_head };
  const base = await mergeBase(into, [target_head, source_head]);
  if (base === source_head) return { ...heads, fit: 'no_commits' };
  if (base === target_head) return { ...heads, fit: 'ahead' };
  const isKnown = facts.checked_source_sha === source_head && facts.checked_target_sha === target_head;
  if (isKnown && facts.merge_status === 'cannot_be_merged') return { ...heads, fit: 'conflict' };
  if (isKnown && facts.merge_status === 'can_be_merged' && !wants_tree) return { ...heads, fit: 'diverged' };
  return { ...heads, ...(await tried(into, heads)) };
}

async function tried(
  into: Repository,
  { source_head, target_head }: { source_head: string; target_head: string },
): Promise<{ fit: Fit; tree_id?: string }> {
  const { tree_id } = await mergeCommits(into, { ours: target_head, theirs: source_head });
  return tree_id === undefined ? { fit: 'conflict' } : { fit: 'diverged', tree_id };
}

/** The status of the pipeline for a head, as shown in `head_pipeline`: from the source project or, if it has none, from the target project; null if there is none. */
export async function pipelineOf(
  db: Database,
  { source, target, source_branch }: MergeFacts,
  head: string,
): Promise<Pipeline> {
  const own = source && (await statusOfCommit(db, source, head, source_branch));
  return own ?? (source?.id === target.id ? null : await statusOfCommit(db, target, head, source_branch));
}

/** The reason why approvals block merging the current source branch. */
export const missingApproval = async (
  services: Pick<Services, 'db' | 'storages'>,
  { id, asks_approvals }: MergeFacts,
  source_head: string | undefined,
) => (asks_approvals ? approvalBlocker(await approvalStateOf(services, id), source_head) : undefined);

const conflicts: readonly MergeStatus[] = ['cannot_be_merged', 'cannot_be_merged_recheck'];
const isInConflict = ({ merge_status }: MergeFacts) => conflicts.includes(merge_status);

/** The merge status after a change that may affect it: conflicts cause one notification, not one each time they are detected again. */
export const uncheckedAgain = sql<MergeStatus>`
  (case when merge_requests.merge_status like 'cannot_be_merged%' then 'cannot_be_merged_recheck' else 'unchecked' end)`;

/** Stores the result of a conflict check. Nothing else of the merge request changes; new conflicts notify its author, and the user who set the auto-merge. */
export async function storeCheck(
  db: Database,
  facts: MergeFacts,
  { source_head, target_head, fit }: Check,
): Promise<void> {
  const merge_status = fit === 'ahead' || fit === 'diverged' ? 'can_be_merged' : 'cannot_be_merged';
  const checked = { checked_source_sha: source_head ?? null, checked_target_sha: target_head ?? null, merge_status };
  if (
    facts.merge_status === merge_status &&
    facts.checked_source_sha === checked.checked_source_sha &&
    facts.checked_target_sha === checked.checked_target_sha
  )
    return;
  const open = db.updateTable('merge_requests').set(checked).where('id', '=', facts.id).where('state', '=', 'opened');
  const isNew = fit === 'conflict' && !isInConflict(facts);
  if (!isNew) return void (await open.execute());
  await sql`with conflicted as (${open.where('merge_status', 'not in', [...conflicts]).returning(['id', 'author_id', 'auto_merge_user_id'])}), ${notifying(sql`
    select 'conflict_merge_request' as event, 'MergeRequest' as target_type, id as target_id, null::bigint as actor_id,
           array_remove(array[author_id, auto_merge_user_id], null) as user_ids from conflicted`)} select`.execute(db);
}

/**
 * Computes the merge status of a merge request, and stores whether it has conflicts.
 * @returns the first reason why it cannot be merged, or `mergeable`
 */
export async function refreshStatus(services: Pick<Services, 'db' | 'storages'>, id: number): Promise<string> {
  const facts = await factsOf(services.db, id);
  if (facts.state !== 'opened') return 'not_open';
  const check = await checkBranches(services, facts);
  await storeCheck(services.db, facts, check);
  const pipeline = check.source_head === undefined ? null : await pipelineOf(services.db, facts, check.source_head);
  const approval = await missingApproval(services, facts, check.source_head);
  return blockerOf(facts, pipeline, check.fit, approval) ?? 'mergeable';
}
