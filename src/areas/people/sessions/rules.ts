/** The links for setting a password. */

/** The purpose of the tokens in the links. */
export const linkPurpose = 'password';

/** The page of the links. */
export const passwordPage = '/users/password/edit';

/** How long a link is valid. */
export const passwordLink_hours = 6;
