/** The interface of namespaces to other districts. */
export {
  isPathTaken,
  type LockedNamespace,
  lockedNamespaceOf,
  lockNamespace,
  lockTarget,
  moveGroup,
} from './actions.ts';
export {
  type DeletableKind,
  type Deletion,
  groupDeletion,
  markOrRemove,
  removeDue,
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
