/** What other areas may use of email addresses. */

export { claimPrimaryEmail } from './address_actions.ts';
export { endClaims } from './claim_rules.ts';
export {
  acceptInvitationsTo,
  confirmEmail,
  confirmNewPrimary,
  removeUnconfirmedEmails,
  tellOfNewEmail,
  tellOfPrimaryChange,
  tellOfPrimaryRequest,
} from './jobs.ts';
export { emailPages } from './pages.ts';
export { changePrimaryEmail } from './primary_actions.ts';
export { confirmedAddresses } from './queries.ts';
export { emailReasons } from './rules.ts';
