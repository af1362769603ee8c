/** Deleting access requests. It belongs to users because deleting a user deletes their requests. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/**
 * Deletes access requests and marks their to-dos as done: however a request ends, nothing is left to decide.
 * @param which a predicate on rows of `access_requests`
 * @returns the number of deleted requests
 */
export async function removeAccessRequests(tx: Database, which: RawBuilder<SqlBool>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with removed as (delete from access_requests where ${which} returning id),
         ended as (update todos set state = 'done', updated_at = now()
                    where state = 'pending' and access_request_id in (select id from removed))
    select count(*) as count from removed`.execute(tx);
  return rows[0]!.count;
}
