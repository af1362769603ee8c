/** Complete changes of personal access tokens. */
import { sql } from 'kysely';
import { newTokenValue, tokenDigest } from '../../access/index.ts';
import type { Database } from '../../db/index.ts';

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

/**
 * Adds a token.
 * @returns its id and its value, which is not kept and cannot be shown again
 */
export async function createToken(tx: Database, token: NewToken): Promise<{ id: number; value: string }> {
  const { user_id, name, description = null, scopes, expires_at, impersonation = false, family_id = null, value = newTokenValue() } = token;
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
