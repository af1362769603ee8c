/** The merge status (docs/reference/merge_requests.md). Pure functions. */

export type State = 'opened' | 'closed' | 'merged' | 'locked';
export type MergeStatus = 'unchecked' | 'checking' | 'can_be_merged' | 'cannot_be_merged' | 'cannot_be_merged_recheck';

/** What decides on the detailed merge status. */
export interface StatusParts {
  state: State;
  draft: boolean;
  merge_status: MergeStatus;
}

const statuses = {
  unchecked: 'unchecked',
  checking: 'checking',
  can_be_merged: 'mergeable',
  cannot_be_merged: 'conflict',
  cannot_be_merged_recheck: 'checking',
} as const;

/** The first reason why it cannot be merged, or `mergeable`. */
export function detailedStatus({ state, draft, merge_status }: StatusParts) {
  if (state !== 'opened') return 'not_open';
  return draft ? 'draft_status' : statuses[merge_status];
}

/** More files than this are not counted. */
const mostFiles = 1000;

/** `changes_count`: null without files. */
export function changesCount(files_count: number | null, hasOverflow: boolean): string | null {
  if (hasOverflow) return `${mostFiles}+`;
  return files_count ? String(files_count) : null;
}
