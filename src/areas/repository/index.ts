/** What other areas may use of repositories. */
export { moveRefs, refsBegun, refsChanged } from './actions.ts';
export { type CommitRequest, commitChanges } from './commit_changes.ts';
export { admitInJson, contentType, disposition, headerValue, sniffed_bytes, uncached } from './content.ts';
export { Diff, diffsOf } from './diffs.ts';
export { type FileAction, FileChanged } from './file_actions.ts';
export { gitOverHttp, gitUrl } from './git_http.ts';
export { deleteRepositories, maintainRepository } from './jobs.ts';
export { diskPath, repositoryOf } from './place.ts';
export { Commit, commitCore, presentCommit } from './present.ts';
export { type Push, pushRefusals } from './push_checks.ts';
export { settleReferences, settleReferenceUpdates } from './settling.ts';
