/** The interface of repositories to other districts. */

export { createBranch } from './branches/actions.ts';
export { commitOnto } from './commits/actions.ts';
export { Comparison, Contributor } from './commits/compare_routes.ts';
export { CommitRef } from './commits/detail_routes.ts';
export { Diff, diffsOf } from './commits/diff_present.ts';
export type { FileAction } from './commits/file_actions.ts';
export { inTurn } from './commits/turn_actions.ts';
export type { GitKind } from './definition.ts';
export { eventFollower } from './event_actions.ts';
export { removeOldFetches } from './fetches/jobs.ts';
export { endingAfter, gitDoorway, gitUrl, goneSignal, sendPack } from './git_http.ts';
export { type Elsewhere, gitOverSsh, type ServedElsewhere } from './git_ssh.ts';
export { hookFollower, samplePush, sampleTag } from './hook_actions.ts';
export { pushEvent, repositoryUpdateEvent } from './hook_present.ts';
export {
  announceUpdates,
  beforeAll,
  moveRefs,
  moveRefsToMerge,
  refsBegun,
  refsChanged,
  sealedOptions,
} from './moving/actions.ts';
export { removeLeftLocks } from './moving/lock_jobs.ts';
export { closeForeign, concludeMerge, recordMerge } from './moving/merge_actions.ts';
export { keepRefs } from './moving/place_actions.ts';
export { recordRefsIn } from './moving/recorded_ref_queries.ts';
export { isOneNetwork } from './owners/fork_network_queries.ts';
export { announceHead, followDefaultBranch } from './owners/head_actions.ts';
export {
  findReadmes,
  maintainRepository,
  maintainSoon,
  maintenanceFollower,
  measureRepositories,
} from './owners/jobs.ts';
export { projectRepositories } from './owners/project_kind.ts';
export { readmeFollower, readmePathOf } from './owners/readme_actions.ts';
export { repositorySizes, sizeFollower } from './owners/size_actions.ts';
export { removeUnused } from './owners/unused_jobs.ts';
export {
  archivePage,
  Branch,
  blobPage,
  Commit,
  CommitDetail,
  comparePage,
  ListedCommit,
  presentCommit,
  treePage,
} from './present.ts';
export { branchRefusal, mayCommitTo, pushRefusals } from './push_checks/checks.ts';
export { fileTexts } from './push_checks/refusal_rules.ts';
export { movedBranches, pushedBranches } from './rules.ts';
export { abandoned_minutes, settleReferences, settleReferenceUpdates } from './settlement_jobs.ts';
export { createTag } from './tags/actions.ts';
export { Tag } from './tags/routes.ts';
export { contentType, disposition, shownAs, sniffed_bytes, uncached } from './trees/content_rules.ts';
export { LastCommit } from './trees/last_commit_routes.ts';
export { FoundPaths, RefNames } from './trees/name_routes.ts';
export { readmeAmong } from './trees/readme_git.ts';
export { TreeObject } from './trees/routes.ts';
