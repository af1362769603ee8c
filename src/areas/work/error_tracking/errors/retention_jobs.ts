/** Deletes old errors. */
import { job } from '../../../../jobs/index.ts';
import { addPartitions, dropOldPartitions, removeOldErrors } from './retention_actions.ts';

/** Every hour, so that the partitions of the coming days exist soon after a long downtime. */
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
