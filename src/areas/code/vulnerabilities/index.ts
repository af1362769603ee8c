/** What other areas may use of vulnerabilities. */
export { applyAdvisories, storeAdvisories } from './import_actions.ts';
export { vulnerabilityMail } from './mail_queries.ts';
export { lockAdvisories, matchPackages } from './match_actions.ts';
export { sampleVulnerability } from './news_actions.ts';
export { Severities, severityOf, vulnerabilityPage } from './present.ts';
export { type FoundVulnerability, vulnerabilitiesOfDependency } from './queries.ts';
export { refreshVulnerabilities } from './refresh_actions.ts';
