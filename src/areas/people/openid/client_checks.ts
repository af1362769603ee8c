/** Which application sends a request, and whether it is the one (docs/reference/oauth_tokens.md#who-asks). */
import { timingSafeEqual } from 'node:crypto';
import { tokenDigest } from '../../../access/index.ts';
import { ApiError, type Services } from '../../../http/index.ts';
import { type Client, clientNamed } from '../applications/queries.ts';
import { refused } from '../oauth_tokens/rules.ts';
import { basicCredentials } from './rules.ts';

const invalidClientText =
  'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.';

/** The refusal of a request that its application has not signed. */
export const invalidClient = (): ApiError =>
  new ApiError(
    401,
    { error: 'invalid_client', error_description: invalidClientText, message: invalidClientText },
    { 'www-authenticate': 'Basic realm="Coppice"' },
  );

/** What a request says about its application. */
export interface Sender {
  authorization: string | undefined;
  /** Of the form; empty for none. */
  client_id: string;
  client_secret: string;
}

/**
 * The application of a request. Without a secret it is unknown, or one that has none to keep, unless `mayBeUnknown`.
 * @param mayBeUnknown whether a name that no application has, without a secret, counts as no application: clients of the time before there were any send one
 * @returns undefined without an application
 * @throws ApiError 401 for an unknown application and a wrong secret, 400 for two ways of sending one
 */
export async function senderOf(
  { db }: Pick<Services, 'db'>,
  { authorization, client_id, client_secret }: Sender,
  { mayBeUnknown = false } = {},
): Promise<Client | undefined> {
  const basic = basicCredentials(authorization);
  if (basic && (client_secret !== '' || (client_id !== '' && client_id !== basic.id)))
    throw refused('invalid_request', 'The client is authenticated in more than one way.');
  const { id, secret } = basic ?? { id: client_id, secret: client_secret };
  if (id === '' && secret === '') return undefined;
  const client = await clientNamed(db, id);
  if (!client) {
    if (mayBeUnknown && secret === '') return undefined;
    throw invalidClient();
  }
  if (secret === '' ? client.confidential : !timingSafeEqual(tokenDigest(secret), client.secret_digest))
    throw invalidClient();
  return client;
}
