/** Files of security policies, from their text to policies, and what policies ask for (docs/reference/security_policies.md). */
export type { ApprovalDemand } from './actions.ts';
export type { FactName, Facts, FoundVulnerability, LicensedPackage } from './facts.ts';
export { maximumFile_bytes, type ReadPolicies, tooLarge } from './file.ts';
export { factsFor, judge, type KnownFacts, type ReportType } from './judging.ts';
export type { BranchChoice, Policy, PolicySetting, Rule, Scope } from './policies.ts';
export { readPolicies } from './reading.ts';
