/** What other areas may use of email addresses. */

export { claimPrimaryEmail } from './address_actions.ts';
export { endClaimsTo, isTaken } from './claim_actions.ts';
export { ownersOfAddresses } from './commit_queries.ts';
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
export { changePrimaryEmail, type Proof } from './primary_actions.ts';
export { confirmedAddresses } from './queries.ts';
export { emailReasons, storedEmail } from './rules.ts';
