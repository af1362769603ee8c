/** What other areas may use of email addresses. */
export { confirmedAddresses, recipientFor } from './addresses.ts';
export { endClaims } from './claims.ts';
export {
  confirmEmail,
  confirmNewPrimary,
  removeUnconfirmedEmails,
  tellOfNewEmail,
  tellOfPrimaryChange,
  tellOfPrimaryRequest,
} from './jobs.ts';
export { emailPages } from './pages.ts';
export { askForConfirmation, changePrimaryEmail } from './primary.ts';
export { emailReasons } from './rules.ts';
