/** The reasons that block a merge, in order (docs/reference/merge_requests.md#merge-status). Pure functions. */
import { isActive, type State } from '../../../code/pipelines/index.ts';
import type { MergeFacts } from '../branch_queries.ts';

/**
 * The relation of the source branch to the target branch: a branch is missing or has no new commits; they conflict; the source is ahead, so that a fast-forward is possible; or
 * they have diverged without conflicts.
 */
export type Fit = 'no_commits' | 'conflict' | 'ahead' | 'diverged';

/** The status of the newest pipeline of the head, null without any. */
export type Pipeline = State | null;

type Stated = Pick<
  MergeFacts,
  'state' | 'draft' | 'is_early' | 'blocking_discussions_resolved' | 'changes_requested' | 'is_blocked' | 'target'
>;

/** Whether the pipeline goes on by itself. For a head without any it counts as one that does if it is required. */
export const isUnderWay = ({ target }: Stated, pipeline: Pipeline): boolean =>
  pipeline === null ? target.only_allow_merge_if_pipeline_succeeds : isActive(pipeline);

/** The reason why a review blocks a merge: open threads, requested changes, or an unmerged merge request that comes first. */
export function reviewBlocker({
  blocking_discussions_resolved,
  changes_requested,
  is_blocked,
}: Stated): 'discussions_not_resolved' | 'requested_changes' | 'merge_request_blocked' | undefined {
  if (!blocking_discussions_resolved) return 'discussions_not_resolved';
  if (changes_requested) return 'requested_changes';
  return is_blocked ? 'merge_request_blocked' : undefined;
}

/** The reason why the pipeline blocks a merge. */
export function pipelineBlocker(
  { target }: Stated,
  pipeline: Pipeline,
): 'ci_must_pass' | 'ci_still_running' | undefined {
  if (!target.only_allow_merge_if_pipeline_succeeds || pipeline === 'success') return undefined;
  if (pipeline === 'skipped' && target.allow_merge_on_skipped_pipeline) return undefined;
  return pipeline !== null && isActive(pipeline) ? 'ci_still_running' : 'ci_must_pass';
}

/** The reason why its state blocks a merge, regardless of branches and commit statuses. */
export function stateBlocker({
  state,
  draft,
  is_early,
}: Stated): 'not_open' | 'draft_status' | 'merge_time' | undefined {
  if (state !== 'opened') return 'not_open';
  if (draft) return 'draft_status';
  return is_early ? 'merge_time' : undefined;
}

/** The reason why its branches block a merge. */
export function fitBlocker({ target }: Stated, fit: Fit): 'commits_status' | 'conflict' | 'need_rebase' | undefined {
  if (fit === 'no_commits') return 'commits_status';
  if (fit === 'conflict') return 'conflict';
  return fit === 'diverged' && target.merge_method !== 'merge' ? 'need_rebase' : undefined;
}

/**
 * The first reason that blocks a merge; undefined if it can be merged.
 * @param approval the reason why approvals block it
 */
export function blockerOf(
  facts: Stated,
  pipeline: Pipeline,
  fit: Fit,
  approval: string | undefined,
): string | undefined {
  if (fit === 'no_commits') return stateBlocker(facts) ?? 'commits_status';
  const early = stateBlocker(facts) ?? reviewBlocker(facts) ?? approval;
  return early ?? pipelineBlocker(facts, pipeline) ?? fitBlocker(facts, fit);
}
