/** What others may use of merge requests. */

export { approvalRules } from './approval_rule_relation.ts';
export { findClosedIssues } from './closing_actions.ts';
export { readClosedIssues } from './closing_jobs.ts';
export { concludeMerged } from './conclusion_actions.ts';
export { followThreads } from './follow_jobs.ts';
export { openMergeRequest } from './issue_jobs.ts';
export { countOpenMergeRequests } from './list_queries.ts';
export { concludeMerges, mergeByCommand, mergeReady } from './merge_jobs.ts';
export { closeForeignOnes, closeOrphans } from './orphan_jobs.ts';
export { mergeRequestFollower } from './push_actions.ts';
export { rebaseSource } from './rebase_jobs.ts';
export { removeMergeRequestRefs } from './ref_jobs.ts';
export { mergeRequests } from './relation.ts';
export { followMergeRequests, prepareMergeRequest } from './version_jobs.ts';
