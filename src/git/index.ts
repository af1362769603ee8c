/** The only code that runs git: a library of repository operations. It imports no other folder of ours. */
export { isAncestor, mergeBase, reachableFrom } from './ancestry.ts';
export { isArchiveFormatKnown, streamArchive } from './archive.ts';
export { blame, countLines, LineOutOfRange } from './blame.ts';
export { type BridgeRequest, throughBridge } from './bridge.ts';
export { streamBundle } from './bundle.ts';
export { changedFiles } from './changes.ts';
export { commitsSaying, type FoundCommit, type FoundLines, linesContaining } from './code_search.ts';
export { GitError, git, gitLoad, isInUse, OutputTooLong } from './command.ts';
export { originalTexts, readCommit } from './commits.ts';
export { contributorsTo } from './contributors.ts';
export {
  allRefs,
  copyObjectFiles,
  headBranch,
  objectFilePattern,
  objectFiles,
  plantRefs,
  refsChecksum,
} from './copies.ts';
export { copyRepository, duplicate } from './copy.ts';
export { fetchCommit } from './fetching.ts';
export { oddFileMode } from './file_modes.ts';
export { blobSize, entryAt, findBlob, readBlob, streamBlob } from './files.ts';
export { type FetchedRefs, fetchBundle, fetchForeign } from './foreign.ts';
export { danglingCommits, fsck } from './fsck.ts';
export { commitStats, countCommits, lastCommitOf, listCommits } from './history.ts';
export { keepAroundRef, mergeRequestRef, pipelineRef, setKeptRefs } from './kept_refs.ts';
export { lastCommitsIn } from './last_commits.ts';
export { listTree, type TreeListing } from './listing.ts';
export { refRetries, removeStaleLocks, staleLocks } from './locks.ts';
export { countObjects, maintain } from './maintenance.ts';
export { mergeCommits, mergeTrees } from './merging.ts';
export { MirrorDiffers, type MirrorSource, mirrorRepository, removeMirror } from './mirror.ts';
export { NamedFiles } from './named_files.ts';
export { newBlobs } from './new_blobs.ts';
export { blobsLargerThan, commitsIn, filesAddedIn, newestRange } from './new_commits.ts';
export { patchId } from './patch_ids.ts';
export { patchesOf } from './patches.ts';
export { pathProblem } from './paths.ts';
export type { PushRules } from './push_hooks.ts';
export { alsoSeeing } from './quarantine.ts';
export { streamDiff, streamPatch } from './raw_diffs.ts';
export { closeReaders, objectHeader } from './readers.ts';
export { rebaseCommits } from './rebasing.ts';
export { brokenRefs, clearBrokenRef } from './ref_files.ts';
export { isBranchOrTag, isValidBranchName, isValidTagName } from './ref_names.ts';
export {
  isEmpty,
  listBranches,
  listTags,
  RefConflict,
  RefMoved,
  readTag,
  refsContaining,
  updateRefs,
} from './refs.ts';
export {
  fetchAside,
  pushToRemote,
  type Refused,
  type Remote,
  type RemoteRefs,
  remoteRefs,
} from './remotes.ts';
export { createRepository, deleteRepository, hasConfig, replaceConfig, replaceHead, setHead } from './repository.ts';
export {
  diskPath,
  learnMove,
  placeOf,
  type RepositoryFolder,
  type RepositoryPlace,
  repositoryOf,
} from './repository_places.ts';
export { resolveBranch, resolveCommit, resolveTag } from './resolve.ts';
export { filesContaining } from './searching.ts';
export { type FileSize, fileSizes } from './sizes.ts';
export { streamSnapshot } from './snapshots.ts';
export { touchedPaths } from './touched_paths.ts';
export { advertiseRefs, receivePack, type Service, SlowReader, SlowSender, uploadPack } from './transport.ts';
export { ChangeRefused } from './tree_editor.ts';
export type * from './types.ts';
export { type WrittenCommit, writeCommit, writeTag, writeTreeCommit } from './writer.ts';
