/** Waits for lock contention, for tests of concurrent changes. */
import { sql } from 'kysely';
import type { Database } from '../../src/db/index.ts';

/**
 * Resolves when sessions wait for a lock in the database.
 * @param db outside the transaction that holds the lock
 * @param count how many sessions must be waiting
 */
export async function untilLockWaits(db: Database, count = 1): Promise<void> {
  const isWaiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  while ((await isWaiting.execute(db)).rows.length < count);
}
