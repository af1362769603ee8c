/** The interface of invitations to other districts. */
export { remindNow } from './actions.ts';
export { acceptInvitations, remindInvited, removeOldInvitations } from './jobs.ts';
export { remindOfInvitation, tellOfAcceptance, tellOfAccess, tellOfRefusal, writeInvitation } from './mail_jobs.ts';
export { invitationPages } from './pages.ts';
