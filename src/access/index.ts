/** Who calls, and what they may: the rules that endpoints name. */
export { authenticate, callerOfToken, callerOfTokenNumbered, commitEmailOf } from './authentication.ts';
export { refreshAuthorizations, type Subtree } from './authorizations.ts';
export { basicCaller, basicPassword, basicRefused, callerOfBasic, gitScopes } from './basic.ts';
export {
  belongsToGroup,
  type Group,
  groupFor,
  groupForAdmin,
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
export { countRequest, forgetOldCounts } from './limits.ts';
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
  movedProject,
  type Project,
  projectFor,
  projectForAdmin,
  projectLevel,
  projectRole,
  projectState,
  projectVisible,
  visibleProject,
} from './projects.ts';
export { isGroup, isListedGroup, isListedProject } from './states.ts';
export { newTokenValue, tokenDigest, tokenScopes } from './tokens.ts';
export { lockTree, lockTrees } from './tree_locks.ts';
