/** Background work of codes. */
import { sql } from 'kysely';
import { job } from '../../../jobs/index.ts';

/** Codes are kept for a day, so that their second use is recognised. */
export const deleteOldCodes = job('delete_old_oauth_codes', {
  input: {},
  retries: 2,
  schedule: '25 3 * * *',
  async run({ db }) {
    for (const table of ['oauth_codes', 'oauth_device_codes'] as const)
      await sql`delete from ${sql.table(table)} where created_at < now() - make_interval(days => 1)`.execute(db);
  },
});
