/** Complete changes of personal access tokens. */
import { sql } from 'kysely';
import { newTokenValue, tokenDigest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest, sentenceOf, unprocessable } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { dayIn, expiryReasons, type Lifetime, lastDay, lifetimeFrom, tokenReasons } from './rules.ts';

/** How long a rotated token lives when nobody says. */
const rotated_days = 7;

export interface NewToken {
  user_id: number;
  name: string;
  description?: string | null | undefined;
  scopes: readonly string[];
  /** `YYYY-MM-DD`; the token stops working at 00:00 UTC of this day. Null: never. */
  expires_at: string | null;
  impersonation?: boolean;
  /** The token that the rotations began with. */
  family_id?: number | null;
  /** The value, where the operator chose it; otherwise a random one. */
  value?: string | undefined;
}

/** A token's id and its value, which is not kept and cannot be shown again. */
export interface MadeToken {
  id: number;
  value: string;
}

/**
 * Adds a token, whatever its lifetime.
 */
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
 * How long the tokens of a user may live, as the settings say.
 * @param user_id left out for a user who is still to be made, for a token of a project or group
 */
export async function lifetimeNow(db: Database, user_id?: number): Promise<Lifetime> {
  const user =
    user_id === undefined
      ? undefined
      : await db.selectFrom('users').select('user_type').where('id', '=', user_id).executeTakeFirst();
  return lifetimeFrom(await settingsOf(db), user?.user_type === 'service_account');
}

/** A token as somebody asks for it. Without `expires_at` it lives as long as it may. */
export type TokenRequest = Omit<NewToken, 'expires_at'> & { expires_at?: string | undefined };

/**
 * Adds a token that somebody asked for.
 * @param refusal makes the error of the reasons against it, by field; by default 422 with a sentence
 * @throws ApiError by `refusal`
 */
export async function issueToken(
  db: Database,
  request: TokenRequest,
  refusal: (reasons: Record<string, string[]>) => Error = (reasons) => unprocessable(sentenceOf(reasons)),
): Promise<MadeToken> {
  const lifetime = await lifetimeNow(db, request.user_id);
  const expires_at = request.expires_at ?? (lifetime.is_limited ? lastDay(lifetime) : null);
  const token = { ...request, expires_at, scopes: [...new Set(request.scopes)] };
  const reasons = tokenReasons({ ...token, description: token.description ?? null }, lifetime);
  if (Object.keys(reasons).length > 0) throw refusal(reasons);
  return createToken(db, token);
}

/**
 * Ends a token.
 * @throws ApiError 400 when it was revoked before
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
 * Puts a new token in the place of one, which is revoked; of two that come at once, one is too late.
 * @param tx a transaction
 * @param wished `YYYY-MM-DD`; left out, in a week
 * @throws ApiError 400 when the token was revoked before, or the day is too far away
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
  const expires_at = wished ?? dayIn(Math.min(rotated_days, lifetime.maximum_days));
  const expires = expiryReasons(expires_at, lifetime);
  if (expires.length > 0) throw badRequest(`400 Bad request - ${sentenceOf({ expires_at: expires })}`);
  const made = await createToken(tx, { ...old, family_id: old.family_id ?? id, expires_at });
  return { ...made, user_id: old.user_id, expires_at };
}
