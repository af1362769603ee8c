/** What other areas may use of repositories. */
export { moveRefs, refsChanged } from './actions.ts';
export { type CommitRequest, commitChanges, type FileAction, FileChanged } from './commit_changes.ts';
export { gitOverHttp, gitUrl } from './git_http.ts';
export { maintainRepository } from './jobs.ts';
export { diskPath, repositoryOf } from './place.ts';
export { Commit, commitCore, presentCommit } from './present.ts';
export { pushRefusals } from './rules.ts';
export { settleReferences, settleReferenceUpdates } from './settling.ts';
