/** The interface of protected branches to other districts. */
export { protectDefaultBranch } from './actions.ts';
export { protectionFor, protectsProject } from './queries.ts';
export { protectedBranches } from './relation.ts';
export { defaultProtection, ProtectionDefaults } from './rules.ts';
