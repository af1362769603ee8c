/** The interface of security policies to other districts. */
export { branchRefusalText, refuseOtherDefault } from './branch_checks.ts';
export { endPolicies, endPoliciesAfterMove } from './end_actions.ts';
export { policyFollower, readSecurityPolicies } from './jobs.ts';
export { tellOfPolicyEnd, tellOfPolicyErrors } from './mail_jobs.ts';
export type { PolicyLink, SecurityPolicy } from './present.ts';
export { isReached, reachedProject } from './queries.ts';
export { policyMessages } from './reading_actions.ts';
export { type PolicyInForce, policiesFor, policyPath, type Reached, rulesAbout } from './rules.ts';
