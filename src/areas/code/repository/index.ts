/** What other areas may use of repositories. */

export {
  announceHead,
  announceUpdates,
  followDefaultBranch,
  moveRefs,
  moveRefsToMerge,
  recordRefs,
  refsBegun,
  refsChanged,
} from './actions.ts';
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
export { Diff, diffsOf } from './diff_present.ts';
export { changesFor, type FileAction, FileChanged } from './file_actions.ts';
export { isOneNetwork } from './fork_network_queries.ts';
export { gitDoorway, gitUrl } from './git_http.ts';
export { gitOverSsh } from './git_ssh.ts';
export { samplePush, sampleTag } from './hook_actions.ts';
export { maintainRepository, maintainSnippet, measureRepositories } from './jobs.ts';
export { removeLeftLocks } from './lock_jobs.ts';
export { closeForeign, concludeMerge, followBranches, recordMerge } from './merge_request_actions.ts';
export { Commit, commitCore, presentCommit } from './present.ts';
export { branchRefusal, mayCommitTo, pushRefusals } from './push_check_rules.ts';
export { fileTexts, tooLargeText } from './refusal_rules.ts';
export { contentIn } from './rules.ts';
export { abandoned_minutes, settleReferences, settleReferenceUpdates } from './settlement_jobs.ts';
export { repositorySizes } from './size_actions.ts';
export { removeUnusedRepository, type SnippetChanges, storeRepository, useRepository } from './snippet_actions.ts';
export {
  contentReasons,
  maximumFiles,
  noFile,
  pathReasons,
  repositoryReasons,
  sizeText,
  tooManyFiles,
} from './snippet_push_rules.ts';
export { inTurn } from './turn_actions.ts';
export { removeUnusedRepositories } from './unused_jobs.ts';
