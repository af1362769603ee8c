/** The interface of merge requests to other districts. */

export { ownersOfPaths } from './approvals/code_owner_git.ts';
export { writePolicyMessage, writePolicyMessages } from './approvals/message_jobs.ts';
export { Approvals } from './approvals/present.ts';
export { approvalRules } from './approvals/rule_relation.ts';
export { groupApprovalSettings } from './approvals/setting_relation.ts';
export { mergeRequestBlocks } from './blocks/relation.ts';
export { findClosedIssues } from './closing/actions.ts';
export { openMergeRequest } from './closing/issue_jobs.ts';
export { readClosedIssues } from './closing/jobs.ts';
export { MergeRequestConflicts } from './conflicts/routes.ts';
export { followDeployments } from './deploying/jobs.ts';
export { mergeRequestFields } from './fields.ts';
export { concludeMerged } from './merging/conclusion_actions.ts';
export { concludeMerges, keepMerged, mergeByCommand, mergeReady } from './merging/jobs.ts';
export { rebaseSource } from './merging/rebase_jobs.ts';
export { MergeRequest, MergeRequestInList } from './present.ts';
export { mergeRequests } from './relation.ts';
export { DraftNote } from './reviews/draft_note_routes.ts';
export { markViewed, noteVisit, type Viewing, viewingOf } from './reviews/viewing_actions.ts';
export { Version as MergeRequestVersion, VersionDetail as MergeRequestVersionDetail } from './versions/content_git.ts';
export { followThreads } from './versions/follow_jobs.ts';
export { followMergeRequests, prepareMergeRequest } from './versions/jobs.ts';
export { closeForeignOnes, closeOrphans } from './versions/orphan_jobs.ts';
export { startMergeRequestPipeline } from './versions/pipeline_jobs.ts';
export { mergeRequestFollower, newMergeRequestAddress } from './versions/push_actions.ts';
export { removeMergeRequestRefs } from './versions/ref_jobs.ts';
export { remindOfPipeline } from './versions/todo_jobs.ts';
