/** The interface of application settings to other districts. */
export { type EmailRefusal, emailRefusals } from './email_checks.ts';
export { removeOldRequestCounts } from './jobs.ts';
export {
  defaultVisibility,
  restrictionReasons,
  type Settings,
  settingsOf,
  storageChooser,
  storageForNew,
} from './queries.ts';
export { allowedVisibility } from './rules.ts';
