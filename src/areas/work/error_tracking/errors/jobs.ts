/** Grouping what has arrived. */
import { setTimeout as sleep } from 'node:timers/promises';
import { job } from '../../../../jobs/index.ts';
import { batchSize, digestEvents } from './digest_actions.ts';

/** While events arrive, up to this many are grouped together, so that few statements do it. */
const gather_ms = 100;

/** Groups events until none waits. Storing events enqueues it in the same transaction, with its name as the key. */
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
