/** The interface of security policies to other districts. */
export { branchRefusalText, refuseOtherDefault } from './branch_checks.ts';
export { policyFollower, readSecurityPolicies } from './jobs.ts';
export { tellOfPolicyErrors } from './mail_jobs.ts';
export { isReached, reachedProject } from './queries.ts';
export { type PolicyInForce, policiesFor, type Reached, rulesAbout } from './rules.ts';
