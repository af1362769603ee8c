/** Forgets sign-ins that did not come back. */
import { sql } from 'kysely';
import { job } from '../../../jobs/index.ts';
import { forgetOldMessages } from './message_actions.ts';
import { away_minutes } from './round_actions.ts';

export const forgetOldRounds = job('forget_old_rounds', {
  input: {},
  retries: 0,
  schedule: '*/10 * * * *',
  async run({ db }) {
    await sql`
      delete from provider_sign_ins where created_at < now() - make_interval(mins => ${sql.lit(away_minutes)})`.execute(
      db,
    );
    await forgetOldMessages(db);
  },
});
