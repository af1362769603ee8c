/** How long OAuth tokens last, and how OAuth refuses (docs/reference/oauth_tokens.md). Pure functions. */
import { ApiError } from '../../../http/index.ts';

/** How long an access token counts. */
export const lifetime_s = 7200;
/** How long a token can be refreshed. */
export const refreshable_days = 30;
/** A client that did not get the answer sends its refresh token again within this time. */
export const retry_s = 10;

/** A refusal in the form of OAuth. */
export const refused = (error: string, description: string): ApiError =>
  new ApiError(400, { error, error_description: description, message: description });

const invalidGrantText =
  'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.';

export const invalidGrant = (): ApiError => refused('invalid_grant', invalidGrantText);

export const invalidScope = (): ApiError =>
  refused('invalid_scope', 'The requested scope is invalid, unknown, or malformed.');

/**
 * The scopes that a refreshed token gets.
 * @param asked the names that were asked for; undefined for all
 * @throws ApiError 400 for one that the token does not have
 */
export function narrowed(scopes: readonly string[], asked: readonly string[] | undefined): readonly string[] {
  if (asked === undefined || asked.length === 0) return scopes;
  if (!asked.every((name) => scopes.includes(name))) throw invalidScope();
  return asked;
}
