/** Settings of users, their keys and tokens, and the mirrors of projects. */
export { sshKeyRedirect, sshKeysPage } from './key_pages.ts';
export { mirrorSettingsPage } from './mirror_pages.ts';
export { notificationsPage, placeNotificationPages, preferencesPage } from './preference_pages.ts';
export { emailsPage, gpgKeysPage, profilePage, profileRedirect } from './profile_pages.ts';
export { placeholderProposalsPage } from './proposal_pages.ts';
export { tokenRedirect, tokensPage } from './token_pages.ts';
