/** What other areas may use of application settings. */
export { removeOldRequestCounts } from './jobs.ts';
export { defaultVisibility, restrictionReasons, type Settings, settingsOf, storageForNew } from './queries.ts';
export { allowedVisibility } from './rules.ts';
