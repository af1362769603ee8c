/** What other areas may use of namespaces. */
export { addUserNamespace, isPathTaken, lockedPlace, type Place, renameUserNamespace } from './actions.ts';
export {
  groupWebUrl,
  NamespaceBasic,
  type NamespaceRow,
  PublicGroupDetails,
  presentNamespaceBasic,
  presentPublicGroup,
} from './present.ts';
export { namespaceFullName } from './queries.ts';
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
