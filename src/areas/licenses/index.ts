/** What other areas, and commands, may use of licences. */
export { addLicense } from './actions.ts';
export { recordBillableUsers, tellOfLicenseEnd, warnOfLicenseEnd } from './jobs.ts';
export { publicKeyText, trustedKeys } from './keys.ts';
export { billableCount, isBillable, seats } from './seats.ts';
export { issueLicense, type Licensed, normalised } from './text.ts';
