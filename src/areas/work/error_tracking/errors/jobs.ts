/** Groups received events and deletes old errors. */
import { setTimeout as sleep } from 'node:timers/promises';
import { job } from '../../../../jobs/index.ts';
import { batchSize, digestEvents } from './digest_actions.ts';
import { addPartitions, dropOldPartitions, removeOldErrors } from './retention_actions.ts';

/** The delay in which events are gathered, so that few statements group them. */
const gather_ms = 100;

/** Groups events until the queue is empty. Storing events enqueues this job in the same transaction, with its name as the key. */
export const digestErrors = job('digest_errors', {
  input: {},
  retries: 20,
  async run({ db, signal }) {
    while (!signal.aborted) {
      const grouped = await db.transaction().execute(digestEvents);
      if (grouped === 0) return;
      if (grouped < batchSize) await sleep(gather_ms);
    }
  },
});

/** Deletes old errors every hour, so that the partitions of the coming days exist soon after a long downtime. */
export const forgetOldErrors = job('forget_old_errors', {
  input: {},
  retries: 10,
  schedule: '25 * * * *',
  async run({ db, log, signal }) {
    await addPartitions(db);
    const dropped = await dropOldPartitions(db);
    if (dropped > 0) log.info({ dropped }, 'dropped the events of old days');
    await removeOldErrors(db, signal);
  },
});
