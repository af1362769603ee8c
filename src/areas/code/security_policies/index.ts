/** The interface of security policies to other districts. */
export { policyFollower, readSecurityPolicies } from './jobs.ts';
export { tellOfPolicyErrors } from './mail_jobs.ts';
export { isReached, reachedNow, reachedProject } from './queries.ts';
export { type PolicyInForce, policiesFor, protectionText, type Reached, rulesAbout, settingPolicies } from './rules.ts';
