/** The links by which people choose a password. */

/** The purpose of the tokens in the links. */
export const linkPurpose = 'password';

/** The page that they open. */
export const passwordPage = '/users/password/edit';

/** How long a link is valid. */
export const passwordLink_hours = 6;
