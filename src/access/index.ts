/** Who calls, and what they may: the rules that endpoints name. */
export { authenticate, callerOfToken, commitEmailOf } from './authentication.ts';
export { lockTree, refreshAuthorizations, type Subtree } from './authorizations.ts';
export {
  belongsToGroup,
  type Group,
  groupFor,
  groupLevel,
  groupRole,
  groupVisible,
  isMemberOfGroup,
  isVisibleGroup,
  mayReadGroup,
  visibleGroup,
} from './groups.ts';
export { admin, anyone, signedIn } from './instance.ts';
export { levels, type Role } from './levels.ts';
export { isPassword, passwordDigest } from './passwords.ts';
export { planFrom } from './plans.ts';
export {
  codeReader,
  codeWriter,
  type Feature,
  isMemberOfProject,
  isVisibleProject,
  type MaybeCaller,
  mayRead,
  mayReadCode,
  mayUse,
  type Project,
  projectFor,
  projectForAdmin,
  projectLevel,
  projectRole,
  projectVisible,
} from './projects.ts';
export { newTokenValue, tokenDigest, tokenScopes } from './tokens.ts';
