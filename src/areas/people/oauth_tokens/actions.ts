/** Issuing, refreshing and revoking OAuth tokens (docs/reference/oauth_tokens.md). */
import { type SqlBool, sql } from 'kysely';
import { newTokenValue, recordSignIn, tokenDigest, userByPassword } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Services } from '../../../http/index.ts';
import { tellOfUser } from '../users/hook_actions.ts';

const lifetime_s = 7200;
/** How long a token can be refreshed. */
const refreshable_days = 30;
const scopes = ['api'];

/** A refusal in the form of OAuth. */
export const refused = (error: string, description: string): ApiError =>
  new ApiError(400, { error, error_description: description, message: description });

const invalidGrant = () =>
  refused(
    'invalid_grant',
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
  );

export interface GivenToken {
  access_token: string;
  token_type: 'Bearer';
  expires_in: number;
  refresh_token: string;
  scope: string;
  /** In seconds since 1970. */
  created_at: number;
}

async function giveToken(db: Database, user_id: number): Promise<GivenToken> {
  const [access_token, refresh_token] = [newTokenValue(''), newTokenValue('')];
  const { created_at } = await db
    .insertInto('oauth_tokens')
    .values({
      user_id,
      token_digest: tokenDigest(access_token),
      refresh_digest: tokenDigest(refresh_token),
      scopes: sql<string[]>`${scopes}::text[]`,
      expires_at: sql<string>`now() + make_interval(secs => ${sql.lit(lifetime_s)})`,
    })
    .returning('created_at')
    .executeTakeFirstOrThrow();
  const since = Math.floor(Date.parse(created_at) / 1000);
  return {
    access_token,
    token_type: 'Bearer',
    expires_in: lifetime_s,
    refresh_token,
    scope: scopes.join(' '),
    created_at: since,
  };
}

/**
 * Issues a token for a username or confirmed email address with its password.
 * @param address the client's IP address
 * @throws ApiError 400 for a wrong password and for users who may not sign in, 429 after too many attempts
 */
export async function tokenForPassword(
  services: Pick<Services, 'db' | 'url' | 'secrets'>,
  { username, password, address }: { username: string; password: string; address: string },
): Promise<GivenToken> {
  const tell = (user_id: number) => tellOfUser(services.db, 'user_failed_login', user_id);
  const user = await userByPassword(services, { login: username, password, address, refused: tell, alone: true }).catch(
    (error: unknown) => {
      // Knowledge of the password alone does not reveal that an account is blocked.
      throw error instanceof ApiError && [401, 403].includes(error.status) ? invalidGrant() : error;
    },
  );
  if (user.user_type !== 'human') throw invalidGrant();
  await recordSignIn(services.db, user.id, address);
  return giveToken(services.db, user.id);
}

const isDue = sql<SqlBool>`created_at <= now() - make_interval(days => ${sql.lit(refreshable_days)})`;

/**
 * Refreshes a token: creates a new one and revokes the old one. Of two concurrent requests only one succeeds.
 * @throws ApiError 400
 */
export function tokenForRefresh(db: Database, refresh_token: string): Promise<GivenToken> {
  return db.transaction().execute(async (tx) => {
    const old = await tx
      .updateTable('oauth_tokens')
      .set({ revoked: true })
      .where('refresh_digest', '=', tokenDigest(refresh_token))
      .where('revoked', '=', false)
      .where(sql<SqlBool>`not ${isDue}`)
      .returning('user_id')
      .executeTakeFirst();
    if (!old) throw invalidGrant();
    return giveToken(tx, old.user_id);
  });
}

/** Revokes a token, by its own value or that of its refresh token. An unknown token is not an error. */
export async function revokeOauthToken(db: Database, value: string): Promise<void> {
  const digest = tokenDigest(value);
  await db
    .updateTable('oauth_tokens')
    .set({ revoked: true })
    .where((q) => q.or([q('token_digest', '=', digest), q('refresh_digest', '=', digest)]))
    .execute();
}

/** Deletes tokens that can no longer be used or refreshed. */
export async function deleteOldTokens(db: Database): Promise<void> {
  await db.deleteFrom('oauth_tokens').where(isDue).execute();
}
