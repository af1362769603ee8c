/** What other areas may use of email addresses. */
export { confirmedAddresses, recipientFor } from '../../../access/recipients.ts';
export { endClaims } from './claim_rules.ts';
export {
  confirmEmail,
  confirmNewPrimary,
  removeUnconfirmedEmails,
  tellOfNewEmail,
  tellOfPrimaryChange,
  tellOfPrimaryRequest,
} from './jobs.ts';
export { emailPages } from './pages.ts';
export { askForConfirmation, changePrimaryEmail } from './primary_actions.ts';
export { emailReasons } from './rules.ts';
