/** The link of an invitation. Having it proves access to the invited address. */
import type { Secrets } from '../../../secrets/index.ts';

const purpose = 'invitation';

/** The path of the pages of invitations, before the token. */
export const invitationPath = '/-/invites';

/**
 * The address of the page of an invitation.
 * @param url the external address of the server, without a trailing slash
 */
export const linkOf = (url: string, secrets: Secrets, seed: string): string =>
  `${url}${invitationPath}/${secrets.linkToken(purpose, seed)}`;

/** The seed of the invitation that a token belongs to; undefined for any other text. */
export const seedOf = (secrets: Secrets, token: string): string | undefined => secrets.seedOfLink(purpose, token);
