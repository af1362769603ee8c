/** The interface of email addresses to other districts. */

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
export type { Proof } from './primary_actions.ts';
export { confirmedAddresses } from './queries.ts';
export { emailReasons } from './rules.ts';
