/** What other areas may use of namespaces. */
export {
  addUserNamespace,
  isPathTaken,
  lockedPlace,
  lockedTarget,
  type Place,
  placeOf,
  renameUserNamespace,
} from './actions.ts';
export {
  groupWebUrl,
  NamespaceBasic,
  type NamespaceRow,
  PublicGroupDetails,
  presentNamespaceBasic,
  presentPublicGroup,
  SharedWithGroup,
} from './present.ts';
export { freePath, linkCounts, namespaceFullName, type SharedWithGroupRow, sharedWithGroups } from './queries.ts';
export {
  groupDescriptionReasons,
  groupNameReasons,
  groupPathReasons,
  isMoreVisible,
  lesserVisibility,
  pathReasons,
  projectDescriptionReasons,
  projectNameReasons,
  usernameReasons,
  type VisibilityName,
} from './rules.ts';
