/** Background work of releases. */
import { sql } from 'kysely';
import { job } from '../../../jobs/index.ts';
import { collectEvidence } from './evidence_actions.ts';

const batch = 100;

/** Every five minutes: collects the evidence of upcoming releases that are due. Each has its own transaction, so an interrupted run can resume. */
export const collectDueEvidence = job('collect_due_evidence', {
  input: {},
  retries: 3,
  schedule: '*/5 * * * *',
  run: async ({ db, log, signal }) => {
    const due = () =>
      db
        .selectFrom('releases')
        .select('id')
        .where('evidence_due', '=', true)
        .where('released_at', '<=', sql<string>`now()`)
        .orderBy('released_at')
        .limit(batch)
        .execute();
    let collected = 0;
    for (let rows = await due(); rows.length > 0; rows = await due()) {
      for (const { id } of rows) {
        signal.throwIfAborted();
        await db.transaction().execute(async (tx) => {
          const still = await tx
            .updateTable('releases')
            .set({ evidence_due: false })
            .where('id', '=', id)
            .where('evidence_due', '=', true)
            .executeTakeFirst();
          if (still.numUpdatedRows > 0n) await collectEvidence(tx, id);
        });
      }
      collected += rows.length;
    }
    log.info({ collected }, 'evidence of upcoming releases collected');
  },
});
