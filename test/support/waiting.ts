/** Moments in which somebody waits for what somebody else holds, for tests of changes that meet. */
import { sql } from 'kysely';
import type { Database } from '../../src/db/index.ts';

/**
 * Waits until somebody waits for a lock in the database.
 * @param db outside the transaction that holds what is waited for
 * @param count how many have to
 */
export async function untilSomebodyWaits(db: Database, count = 1): Promise<void> {
  const isWaiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await isWaiting.execute(db)).rows.length < count);
}
