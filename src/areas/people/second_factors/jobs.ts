/** Deleting sign-ins and challenges that are over. */
import { sql } from 'kysely';
import { job } from '../../../jobs/index.ts';
import { pending_minutes } from '../sessions/sign_in_actions.ts';
import { challenge_minutes } from './webauthn_rules.ts';

/** Deletes sign-ins that no longer wait, and challenges that are too old to be answered again. */
export const deleteOldSignIns = job('delete_old_sign_ins', {
  input: {},
  retries: 0,
  schedule: '*/20 * * * *',
  async run({ db }) {
    await sql`
      delete from pending_sign_ins where created_at < now() - make_interval(mins => ${sql.lit(pending_minutes)})`.execute(
      db,
    );
    await sql`
      delete from used_webauthn_challenges where used_at < now() - make_interval(mins => ${sql.lit(2 * challenge_minutes)})`.execute(
      db,
    );
  },
});
