/** Removes old fetch counts. */
import { sql } from 'kysely';
import { job } from '../../../../jobs/index.ts';

/** The number of days for which fetches are shown and kept. */
export const shown_days = 30;

/** Every night: removes counts that are no longer shown. */
export const removeOldFetches = job('remove_old_fetches', {
  input: {},
  retries: 3,
  schedule: '35 3 * * *',
  run: async ({ db }) => {
    await sql`delete from project_fetches where date <= (now() at time zone 'UTC')::date - ${sql.lit(shown_days)}`.execute(
      db,
    );
  },
});
