/** What other areas may use of protected branches. */
export { protectByRole, protectDefaultBranch, unprotectIfProtected } from './actions.ts';
export { protectionFor, protectsProject } from './queries.ts';
export { protectedBranches } from './relation.ts';
export { type BranchProtection, defaultProtection, isAbout, nameReasons, ProtectionDefaults } from './rules.ts';
