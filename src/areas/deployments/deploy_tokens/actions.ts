/** Creating deploy tokens. */
import { sql } from 'kysely';
import { newTokenValue, type Owner, tokenDigest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

export interface NewDeployToken {
  name: string;
  /** Derived from the ID by default. */
  username?: string | undefined;
  scopes: readonly string[];
  expires_at?: string | null | undefined;
}

/**
 * Creates a deploy token.
 * @returns its ID and its value, which is not stored
 */
export async function createDeployToken(
  db: Database,
  { project_id, group_id }: Owner,
  { name, username, scopes, expires_at = null }: NewDeployToken,
): Promise<{ id: number; value: string }> {
  const value = newTokenValue('gldt-');
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('personal_access_tokens', 'id')) as id`.execute(db);
  const { id } = rows[0]!;
  const row = {
    id,
    project_id,
    group_id,
    name,
    username: username || `gitlab+deploy-token-${id}`,
    scopes: sql<string[]>`${[...new Set(scopes)]}::text[]`,
    token_digest: tokenDigest(value),
    expires_at,
  };
  await db.insertInto('deploy_tokens').values(row).execute();
  return { id, value };
}
