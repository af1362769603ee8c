/** What other areas may use of repositories. */

export { announceUpdates, beforeAll, moveRefs, moveRefsToMerge, refsBegun, refsChanged } from './actions.ts';
export { blobBytes } from './blob_present.ts';
export { createBranch } from './branch_actions.ts';
export { type CommitRequest, commitChanges, commitOnto, writeChanges } from './commit_actions.ts';
export { statusOfCommit } from './commit_status_queries.ts';
export {
  admitInJson,
  contentType,
  contentTypes,
  disposition,
  headerValue,
  shownAs,
  sniffed_bytes,
  uncached,
} from './content_rules.ts';
export type { GitAccess, GitKind } from './definition.ts';
export { Diff, diffsOf } from './diff_present.ts';
export { eventFollower } from './event_actions.ts';
export { changesFor, type FileAction, FileChanged } from './file_actions.ts';
export { isOneNetwork } from './fork_network_queries.ts';
export { isPush, MovedGit } from './git_access.ts';
export { endingAfter, gitDoorway, gitUrl, goneSignal, sendPack } from './git_http.ts';
export { type Elsewhere, gitOverSsh, type ServedElsewhere } from './git_ssh.ts';
export { announceHead, followDefaultBranch } from './head_actions.ts';
export { hookFollower, samplePush, sampleTag, tellOfUpdate } from './hook_actions.ts';
export { maintainRepository, maintainSoon, maintenanceFollower, measureRepositories } from './jobs.ts';
export { removeLeftLocks } from './lock_jobs.ts';
export { closeForeign, concludeMerge, recordMerge } from './merge_actions.ts';
export { keepRefs } from './place_actions.ts';
export { Commit, commitCore, presentCommit } from './present.ts';
export { projectRepositories } from './project_kind.ts';
export { branchRefusal, mayCommitTo, oddTreeRefusals, pushRefusals } from './push_check_rules.ts';
export { recordedRefsIn, recordRefsIn } from './recorded_ref_queries.ts';
export { fileTexts, tooLargeText } from './refusal_rules.ts';
export { contentIn, movedBranches, pushedBranches, readOnlyRefusal, refusal } from './rules.ts';
export { abandoned_minutes, settleReferences, settleReferenceUpdates } from './settlement_jobs.ts';
export { repositorySizes, sizeFollower } from './size_actions.ts';
export { inTurn } from './turn_actions.ts';
export { removeUnusedRepository, storeRepository, useRepository } from './unused_actions.ts';
export { removeUnused } from './unused_jobs.ts';
