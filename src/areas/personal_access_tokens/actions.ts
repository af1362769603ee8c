/** Complete changes of personal access tokens. */
import { sql } from 'kysely';
import { newTokenValue, tokenDigest } from '../../access/index.ts';
import type { Database } from '../../db/index.ts';
import { badRequest, sentenceOf, unprocessable } from '../../http/index.ts';
import { expiryReasons, tokenReasons } from './rules.ts';

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
  const { value = newTokenValue() } = token;
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
 * Adds a token that somebody asked for.
 * @throws ApiError 422 with a sentence that says what a token may not be
 */
export async function issueToken(db: Database, token: NewToken & { expires_at: string }): Promise<MadeToken> {
  const reasons = tokenReasons({ ...token, description: token.description ?? null });
  if (Object.keys(reasons).length > 0) throw unprocessable(sentenceOf(reasons));
  return createToken(db, { ...token, scopes: [...new Set(token.scopes)] });
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
 * @param expires_at `YYYY-MM-DD`
 * @throws ApiError 400 when the token was revoked before, or the day is too far away
 */
export async function rotateToken(db: Database, id: number, expires_at: string): Promise<MadeToken> {
  const expires = expiryReasons(expires_at);
  if (expires.length > 0) throw badRequest(`400 Bad request - ${sentenceOf({ expires_at: expires })}`);
  return db.transaction().execute(async (tx) => {
    const old = await tx
      .updateTable('personal_access_tokens')
      .set({ revoked: true })
      .where('id', '=', id)
      .where('revoked', '=', false)
      .returning(['user_id', 'name', 'description', 'scopes', 'impersonation', 'family_id'])
      .executeTakeFirst();
    if (!old) throw badRequest('400 Bad request - Token already revoked');
    return createToken(tx, { ...old, family_id: old.family_id ?? id, expires_at });
  });
}
