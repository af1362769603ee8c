/** Who calls, and what they may: the rules that endpoints name. */
export { authenticate, callerOfToken } from './authentication.ts';
export { lockTree, refreshAuthorizations, type Subtree } from './authorizations.ts';
export { type Group, groupFor, groupLevel, groupRole, groupVisible, mayReadGroup } from './groups.ts';
export { admin, anyone, signedIn } from './instance.ts';
export { levels, type Role } from './levels.ts';
export { isPassword, passwordDigest } from './passwords.ts';
export { planFrom } from './plans.ts';
export {
  codeReader,
  codeWriter,
  type Feature,
  type MaybeCaller,
  mayRead,
  mayReadCode,
  mayUse,
  type Project,
  projectFor,
  projectRole,
  projectVisible,
} from './projects.ts';
export { newTokenValue, tokenDigest, tokenScopes } from './tokens.ts';
