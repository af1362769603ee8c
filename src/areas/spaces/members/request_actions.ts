/** Deleting access requests. A trigger marks their to-do items as done. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/**
 * @param which a predicate on rows of `access_requests`
 * @returns the number of deleted requests
 */
export async function removeAccessRequests(tx: Database, which: RawBuilder<SqlBool>): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from access_requests where ${which}`.execute(tx);
  return Number(numAffectedRows);
}
