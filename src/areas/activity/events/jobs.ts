/** Background work of activity events. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';

/** The number of rows deleted per statement, so that none takes long. */
const batch = 5000;

/**
 * Deletes events that are older than three years.
 * @param signal stops the work between two statements
 * @returns how many rows were deleted
 */
async function removeOld(db: Database, signal: AbortSignal): Promise<number> {
  for (let removed = 0; ; ) {
    signal.throwIfAborted();
    const { numAffectedRows = 0n } = await sql`
      delete from events where id in (
        select id from events where created_at < now() - interval '3 years' order by created_at limit ${sql.lit(batch)})`.execute(
      db,
    );
    if (numAffectedRows === 0n) return removed;
    removed += Number(numAffectedRows);
  }
}

/** Runs every night. */
export const removeOldEvents = job('remove_old_events', {
  input: {},
  retries: 3,
  schedule: '40 1 * * *',
  run: async ({ db, log, signal }) => {
    const removed = await removeOld(db, signal);
    if (removed > 0) log.info({ removed }, 'old events removed');
  },
});
