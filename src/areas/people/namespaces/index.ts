/** What other areas may use of namespaces. */
export {
  addUserNamespace,
  isPathTaken,
  type LockedNamespace,
  lockedNamespaceOf,
  lockNamespace,
  lockTarget,
  moveGroup,
  renameUserNamespace,
} from './actions.ts';
export {
  type DeletableKind,
  type Deletion,
  groupDeletion,
  markOrRemove,
  removeDue,
  removeGroupsNow,
  unmark,
} from './deletion_actions.ts';
export { emptyProjects } from './emptying_actions.ts';
export { tellOfGroup, tellOfProjects } from './hook_actions.ts';
export {
  cleanUpAfterProjects,
  deleteProjects,
  recordGroupSeats,
  removeGroup,
  removeUnusedRepositories,
} from './jobs.ts';
export {
  NamespaceBasic,
  type NamespaceRow,
  PublicGroupDetails,
  presentNamespaceBasic,
  presentPublicGroup,
  SharedWithGroup,
} from './present.ts';
export { ProjectIdentity, projectIdentityJson } from './project_present.ts';
export {
  freePath,
  namespaceAvatar,
  namespaceFullName,
  publicGroups,
  type SharedWithGroupRow,
  sharedWithGroups,
} from './queries.ts';
export {
  groupDescriptionReasons,
  groupNameReasons,
  groupPathReasons,
  pathReasons,
  projectDescriptionReasons,
  projectNameReasons,
  usernameReasons,
} from './rules.ts';
