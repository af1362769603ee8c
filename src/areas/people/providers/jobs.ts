/** Forgets sign-ins that did not come back, and asks directories who is still there. */
import { sql } from 'kysely';
import { job } from '../../../jobs/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { checkIfThere } from './directory_actions.ts';
import { forgetOldSamlSessions } from './logout_actions.ts';
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
    await forgetOldSamlSessions(db);
  },
});

/** @param active whether only those are asked about who are here today */
async function checkAll(services: JobServices, active: boolean): Promise<void> {
  for (const provider of services.sign_in.providers)
    if (provider.type === 'ldap') await checkIfThere(services, provider, { active, due: true });
}

export const checkActivePeople = job('check_active_people', {
  input: {},
  retries: 0,
  schedule: '7 * * * *',
  run: (services) => checkAll(services, true),
});

export const checkEverybody = job('check_everybody', {
  input: {},
  retries: 0,
  schedule: '37 2 * * *',
  run: (services) => checkAll(services, false),
});
