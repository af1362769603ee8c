/** The interface of licenses to other districts. */
export { addLicense } from './actions.ts';
export { recordBillableUsers, tellOfLicenseEnd, warnOfLicenseEnd } from './jobs.ts';
export { publicKeyText, trustedKeys } from './key_rules.ts';
export { billableCount, isBillable, seats } from './seat_queries.ts';
export { issueLicense, type Licensed, normalised } from './text_rules.ts';
