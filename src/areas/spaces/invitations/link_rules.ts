/** The link of an invitation. It is a proof of its own: whoever has it was written to at the invited address. */
import type { Secrets } from '../../../secrets/index.ts';

const purpose = 'invitation';

/** Where the pages of invitations are, before the token. */
export const invitationPath = '/-/invites';

/**
 * The address of the page of an invitation.
 * @param url the external address of the server, without a trailing slash
 */
export const linkOf = (url: string, secrets: Secrets, seed: string): string =>
  `${url}${invitationPath}/${secrets.linkToken(purpose, seed)}`;

/** The seed of the invitation that a token opens, or undefined for any other text. */
export const seedOf = (secrets: Secrets, token: string): string | undefined => secrets.seedOfLink(purpose, token);
