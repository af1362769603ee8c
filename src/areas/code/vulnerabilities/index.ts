/** The interface of vulnerabilities to other districts. */
export type { FoundByJob } from './finding_actions.ts';
export { applyAdvisories, storeAdvisories } from './import_actions.ts';
export { vulnerabilityMail } from './mail_queries.ts';
export { sampleVulnerability, vulnerabilityEvent } from './news_actions.ts';
export { Vulnerability, VulnerabilityDetails } from './present.ts';
