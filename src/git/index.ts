/** The only place that starts git: a library of what the product asks of a repository. It imports nothing else of ours. */
export { blame, countLines, LineOutOfRange } from './blame.ts';
export { changedFiles } from './changes.ts';
export { GitError, git, gitStream, type RunOptions } from './command.ts';
export { readCommit } from './commits.ts';
export { blobSize, entryAt, readBlob, readTree, streamBlob } from './files.ts';
export { type CommitList, commitStats, countCommits, lastCommitOf, listCommits } from './history.ts';
export { countObjects, maintain, type ObjectCounts } from './maintenance.ts';
export { pathProblem } from './paths.ts';
export type { PushRules } from './push_hooks.ts';
export { sizesIn } from './quarantine.ts';
export { closeReaders } from './readers.ts';
export { isValidBranchName, isValidTagName } from './ref_names.ts';
export {
  isAncestor,
  isEmpty,
  listBranches,
  listTags,
  mergeBase,
  mergedBranches,
  RefConflict,
  RefMoved,
  readTag,
  updateRefs,
} from './refs.ts';
export { createRepository, deleteRepository, setHead } from './repository.ts';
export { resolveBranch, resolveCommit } from './resolve.ts';
export { advertiseRefs, receivePack, type Service, type ServiceRequest, type TransportOptions, uploadPack } from './transport.ts';
export { ChangeRefused } from './tree_editor.ts';
export type * from './types.ts';
export { type NewCommit, type WrittenCommit, writeCommit } from './writer.ts';
