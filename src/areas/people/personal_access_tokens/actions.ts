/** Creating, rotating and revoking personal access tokens (docs/reference/personal_access_tokens.md). */
import { sql } from 'kysely';
import { newTokenValue, tokenDigest } from '../../../access/index.ts';
import { daysFromNow } from '../../../cron/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest, type Caller, invalid, sentenceOf, unprocessable } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { expiryReasons, type Lifetime, lastDay, lifetimeFrom, scopesFor, tokenReasons } from './rules.ts';

/** The default lifetime of a rotated token. */
const rotated_days = 7;

export interface NewToken {
  user_id: number;
  name: string;
  description?: string | null | undefined;
  scopes: readonly string[];
  /** `YYYY-MM-DD`; the token expires at 00:00 UTC of this day. Null: never. */
  expires_at: string | null;
  impersonation?: boolean;
  /** The first token of a chain of rotations. */
  family_id?: number | null;
  /** A value chosen by the operator; random if omitted. */
  value?: string | undefined;
}

/** A token's ID and its value, which is not stored and cannot be shown again. */
export interface MadeToken {
  id: number;
  value: string;
}

/** Creates a token, without checking its lifetime. */
export async function createToken(tx: Database, token: NewToken): Promise<MadeToken> {
  const { user_id, name, description = null, scopes, expires_at, impersonation = false, family_id = null } = token;
  const { value = newTokenValue((await settingsOf(tx)).personal_access_token_prefix) } = token;
  const { id } = await tx
    .insertInto('personal_access_tokens')
    .values({
      user_id,
      name,
      description,
      scopes: sql`${[...scopes]}::text[]`,
      expires_at,
      impersonation,
      family_id,
      token_digest: tokenDigest(value),
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, value };
}

/**
 * The lifetime of a user's tokens according to the application settings.
 * @param user_id omitted for a bot user who is not created yet
 */
export async function lifetimeNow(db: Database, user_id?: number): Promise<Lifetime> {
  const user =
    user_id === undefined
      ? undefined
      : await db.selectFrom('users').select('user_type').where('id', '=', user_id).executeTakeFirst();
  return lifetimeFrom(await settingsOf(db), user?.user_type === 'service_account');
}

/** Whether a user may have no tokens of their own. Bots and service accounts may. */
async function areDisabled(db: Database, user_id: number): Promise<boolean> {
  if (!(await settingsOf(db)).disable_personal_access_tokens) return false;
  const user = await db.selectFrom('users').select('user_type').where('id', '=', user_id).executeTakeFirst();
  return user?.user_type === 'human';
}

/** A request for a token. Without `expires_at` it gets the maximum lifetime. */
export type TokenRequest = Omit<NewToken, 'expires_at'> & { expires_at?: string | undefined };

/**
 * Creates a token as requested.
 * @param refusal creates the error from the reasons by parameter; by default 422 with a sentence
 * @throws ApiError by `refusal`
 */
export async function issueToken(
  db: Database,
  request: TokenRequest,
  refusal: (reasons: Record<string, string[]>) => Error = (reasons) => unprocessable(sentenceOf(reasons)),
): Promise<MadeToken> {
  if (!request.impersonation && (await areDisabled(db, request.user_id)))
    throw refusal({ personal_access_tokens: ['are disabled'] });
  const lifetime = await lifetimeNow(db, request.user_id);
  const expires_at = request.expires_at ?? (lifetime.is_limited ? lastDay(lifetime) : null);
  const token = { ...request, expires_at, scopes: [...new Set(request.scopes)] };
  const reasons = tokenReasons({ ...token, description: token.description ?? null }, lifetime);
  if (Object.keys(reasons).length > 0) throw refusal(reasons);
  return createToken(db, token);
}

/**
 * Creates a token that a user requests in a browser, with their password. Administrator scopes are available only to
 * administrators.
 * @throws ApiError 400 with the reasons by parameter
 */
export function issueOwnToken(
  db: Database,
  user: Pick<Caller, 'id' | 'admin'>,
  request: Omit<TokenRequest, 'user_id'>,
) {
  const isUnknown = (scope: string) => !scopesFor(user).some((each) => each === scope);
  if (request.scopes.some(isUnknown)) throw invalid({ scopes: ['can only contain available scopes'] });
  return issueToken(db, { ...request, user_id: user.id }, invalid);
}

/**
 * Revokes a token.
 * @throws ApiError 400 when it is already revoked
 */
export async function revokeToken(db: Database, id: number): Promise<void> {
  const revoked = await db
    .updateTable('personal_access_tokens')
    .set({ revoked: true })
    .where('id', '=', id)
    .where('revoked', '=', false)
    .executeTakeFirst();
  if (revoked.numUpdatedRows === 0n) throw badRequest('400 Bad request');
}

/**
 * Rotates a token: revokes it and creates a new one. Of two concurrent rotations, one fails.
 * @param tx a transaction
 * @param wished `YYYY-MM-DD`; if omitted, a week from now
 * @throws ApiError 400 if the token is already revoked, and for a date that is past or too late
 */
export async function rotateToken(
  tx: Database,
  id: number,
  wished: string | undefined,
): Promise<MadeToken & { user_id: number; expires_at: string }> {
  const old = await tx
    .updateTable('personal_access_tokens')
    .set({ revoked: true })
    .where('id', '=', id)
    .where('revoked', '=', false)
    .returning(['user_id', 'name', 'description', 'scopes', 'impersonation', 'family_id'])
    .executeTakeFirst();
  if (!old) throw badRequest('400 Bad request - Token already revoked');
  const lifetime = await lifetimeNow(tx, old.user_id);
  const expires_at = wished ?? daysFromNow(Math.min(rotated_days, lifetime.maximum_days));
  const expires = expiryReasons(expires_at, lifetime);
  if (expires.length > 0) throw badRequest(`400 Bad request - ${sentenceOf({ expires_at: expires })}`);
  const made = await createToken(tx, { ...old, family_id: old.family_id ?? id, expires_at });
  return { ...made, user_id: old.user_id, expires_at };
}
