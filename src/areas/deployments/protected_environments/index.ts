/** What other areas may use of protected environments. */
export { describedGrantee } from './present.ts';
export { isProtected, mayRegrade, type Place, protectionsOf } from './queries.ts';
export { protectedEnvironments } from './relation.ts';
export { type Actor, isNamed, mayDeploy, type ProtectionRule, type Tier, tiers } from './rules.ts';
