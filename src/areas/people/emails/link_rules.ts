/** The paths of confirmation links. */

/** The purpose of the tokens in the links. */
export const linkPurpose = 'email confirmation';

/** The page for addresses other than the primary one. */
export const newEmailPage = '/-/profile/emails/confirmation';

/** The page for the primary address of a new account, and for a new primary address. */
export const primaryEmailPage = '/users/confirmation';
