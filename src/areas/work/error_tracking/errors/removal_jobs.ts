/** Deletes the data of a deleted error. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { Id } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';

/** The most rows deleted by one statement, so that none stays locked for long. */
const batchSize = 5000;

const batchesOf = (error_id: number): RawBuilder<unknown>[] => [
  sql`delete from error_tracking_events where (received_at, id) in (
        select received_at, id from error_tracking_events where error_id = ${error_id} limit ${batchSize})`,
  sql`delete from error_tracking_error_users where (error_id, user_hash) in (
        select error_id, user_hash from error_tracking_error_users where error_id = ${error_id} limit ${batchSize})`,
];

async function deleteInBatches(db: Database, batch: RawBuilder<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const { numAffectedRows = 0n } = await batch.execute(db);
    if (numAffectedRows < BigInt(batchSize)) return;
  }
}

/** Deletes an error that no longer belongs to a project, with its events. */
export const removeError = job('remove_error', {
  input: { error_id: Id },
  retries: 20,
  async run({ db, signal, input: { error_id } }) {
    for (const batch of batchesOf(error_id)) await deleteInBatches(db, batch, signal);
    await db.deleteFrom('error_tracking_errors').where('id', '=', error_id).where('project_id', 'is', null).execute();
  },
});
