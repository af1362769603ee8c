/** Deletes old records of costly files: the reader, or the machine, may have become faster since. */
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
