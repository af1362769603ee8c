/** Groups received events. */
import { setTimeout as sleep } from 'node:timers/promises';
import { job } from '../../../../jobs/index.ts';
import { batchSize, digestEvents } from './digest_actions.ts';

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
