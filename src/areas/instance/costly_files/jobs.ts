/** Forgets files that were too costly to read long ago: the reader, or the machine, may have become better. */
import { sql } from 'kysely';
import { job } from '../../../jobs/index.ts';

export const forgetCostlyFiles = job('forget_costly_files', {
  input: {},
  retries: 0,
  schedule: '55 3 * * *',
  run: async ({ db }) => {
    await sql`delete from costly_files where noted_at < now() - interval '30 days'`.execute(db);
  },
});
