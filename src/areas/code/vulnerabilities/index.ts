/** The interface of vulnerabilities to other districts. */
export { applyAdvisories, storeAdvisories } from './import_actions.ts';
export { vulnerabilityMail } from './mail_queries.ts';
export { sampleVulnerability, vulnerabilityEvent } from './news_actions.ts';
export { Vulnerability, VulnerabilityDetails } from './present.ts';
