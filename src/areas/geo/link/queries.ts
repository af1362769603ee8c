/** Queries that both sites of a link need. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/**
 * The version of the schema: two databases with the same version have the same tables. It is a text and not a number,
 * because a migration may be merged after a later one.
 * @returns the last migration and the number of all, such as `0575_geo_nonces (160)`
 */
export async function schemaVersion(db: Database): Promise<string> {
  const { rows } = await sql<{ version: string }>`
    select max(name) || ' (' || count(*) || ')' as version from kysely_migration`.execute(db);
  return rows[0]!.version;
}
