/** Where the links in confirmation mails lead. */

/** What the tokens of the links are made for. */
export const linkPurpose = 'email confirmation';

/** For addresses beside the primary one. */
export const newEmailPage = '/-/profile/emails/confirmation';

/** For the primary address, of a new account or in place of the old one. */
export const primaryEmailPage = '/users/confirmation';
