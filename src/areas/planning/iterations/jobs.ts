/** Background work of iterations. */
import { sql } from 'kysely';
import { today } from '../../../cron/index.ts';
import type { Database } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';
import { advanceCadence, stateOn } from './actions.ts';

const batch = 100;

/** The next outdated cadences, ordered by id. */
async function overdue(db: Database, after: number) {
  const { rows } = await sql<{ id: number; group_id: number }>`
    select id, group_id from iteration_cadences cadence
     where id > ${after}
       and (exists (select from iterations where cadence_id = cadence.id and state < 3 and state <> ${stateOn(today())})
         or (active and automatic and iterations_in_advance >
              (select count(*) from iterations where cadence_id = cadence.id and start_date > ${today()})))
     order by id limit ${sql.lit(batch)}`.execute(db);
  return rows;
}

/** At 00:05 UTC: iterations start and end. Each cadence is a transaction, so an interrupted run resumes where it stopped. */
export const advanceIterations = job('advance_iterations', {
  input: {},
  retries: 3,
  schedule: '5 0 * * *',
  run: async ({ db, log, signal }) => {
    let advanced = 0;
    for (let cadences = await overdue(db, 0); cadences.length > 0; cadences = await overdue(db, cadences.at(-1)!.id)) {
      for (const { id, group_id } of cadences) {
        signal.throwIfAborted();
        await db.transaction().execute((tx) => advanceCadence(tx, group_id, id));
      }
      advanced += cadences.length;
    }
    log.info({ advanced }, 'iterations advanced');
  },
});
