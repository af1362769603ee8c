/** Drafts, the merge status, and the texts of refusals (docs/reference/merge_requests.md). Pure functions. */

/** The draft prefixes of a title. */
const draftMark = /^\s*(?:draft:|\[draft\]|\(draft\))\s*/i;

/** A title without draft prefixes. */
export function withoutDraft(title: string): string {
  let bare = title;
  while (draftMark.test(bare)) bare = bare.replace(draftMark, '');
  return bare;
}

/** Whether a title marks a draft; matches the generated column `draft`. */
export const isDraft = (title: string): boolean => draftMark.test(title);

/** The system note for a changed draft status. */
export const wordsForDraft = (draft: boolean): string =>
  `marked this merge request as **${draft ? 'draft' : 'ready'}**`;

/** The system note for a changed target branch. */
export const wordsForBranch = (from: string, to: string): string =>
  `changed target branch from \`${from}\` to \`${to}\``;

export type State = 'opened' | 'closed' | 'merged' | 'locked';
export type MergeStatus = 'unchecked' | 'checking' | 'can_be_merged' | 'cannot_be_merged' | 'cannot_be_merged_recheck';

/** The values that determine the detailed merge status. */
export interface StatusParts {
  state: State;
  draft: boolean;
  merge_status: MergeStatus;
  blocking_discussions_resolved: boolean;
}

const statuses = {
  unchecked: 'unchecked',
  checking: 'checking',
  can_be_merged: 'mergeable',
  cannot_be_merged: 'conflict',
  cannot_be_merged_recheck: 'checking',
} as const;

/** The first reason that blocks a merge, or `mergeable`. */
export function detailedStatus({ state, draft, merge_status, blocking_discussions_resolved }: StatusParts) {
  if (state !== 'opened') return 'not_open';
  if (draft) return 'draft_status';
  return blocking_discussions_resolved ? statuses[merge_status] : 'discussions_not_resolved';
}

/** @param iid the number of the open one */
export const duplicateText = (iid: number | string): string =>
  `Another open merge request already exists for this source branch: !${iid}`;
export const sameBranchText = "You can't use same project/branch for source and target";
export const noForkText = 'Source project is not a fork of the target project';
export const disabledText = 'Target project has disabled merge requests';

/** The highest count of files. */
const maximumFiles = 1000;

/** `changes_count`: null without files. */
export function changesCount(files_count: number | null, hasOverflow: boolean): string | null {
  if (hasOverflow) return `${maximumFiles}+`;
  return files_count ? String(files_count) : null;
}

export const cannotMergeText = 'Branch cannot be merged';
/** @param head the head of the source branch */
export const shaText = (head: string): string => `SHA does not match HEAD of source branch: ${head}`;
export const notMergeableText = 'Merge request is not mergeable';
export const noAutoMergeText = "Can't cancel the automatic merge";

/** Whether commits are squashed: the setting of the project decides, unless it leaves that to each merge request. */
export const squashes = (squash_option: string, wanted: boolean): boolean =>
  squash_option === 'always' || (squash_option !== 'never' && wanted);

/** The refusals of context commits. */
export const contextTexts = {
  many: 'commits: at most 20 at a time',
  unknown: 'commits: one of them is not a commit of the project',
  full: 'commits: a merge request has at most 100 context commits',
} as const;
