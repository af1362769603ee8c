/** What other areas may use of repositories. */

export { diskPath, repositoryOf } from '../../../git/place.ts';
export { moveRefs, refsBegun, refsChanged } from './actions.ts';
export { type CommitRequest, commitChanges } from './commit_actions.ts';
export { admitInJson, contentType, disposition, headerValue, sniffed_bytes, uncached } from './content_rules.ts';
export { Diff, diffsOf } from './diff_present.ts';
export { type FileAction, FileChanged } from './file_actions.ts';
export { gitOverHttp, gitUrl } from './git_http.ts';
export { deleteRepositories, maintainRepository } from './jobs.ts';
export { Commit, commitCore, presentCommit } from './present.ts';
export { type Push, pushRefusals } from './push_check_rules.ts';
export { settleReferences, settleReferenceUpdates } from './settlement_jobs.ts';
