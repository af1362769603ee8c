/** Grouping what has arrived. */
import { job } from '../../../../jobs/index.ts';
import { digestEvents } from './digest_actions.ts';

/** Groups events until none waits. Storing events enqueues it in the same transaction, with its name as the key. */
export const digestErrors = job('digest_errors', {
  input: {},
  retries: 20,
  async run({ db, signal }) {
    for (let isDone = false; !isDone && !signal.aborted; ) {
      isDone = (await db.transaction().execute(digestEvents)) === 0;
    }
  },
});
