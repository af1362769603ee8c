/** Makes blobs of logs. */
import { job } from '../../../jobs/index.ts';
import { logsToStore, storeLog } from './storing_actions.ts';

/** How many logs are looked for at once, and how many of them are stored at a time. */
const batch = 200;
const together = 4;

/** Every minute: makes blobs of the logs of jobs that have ended. */
export const storeEndedLogs = job('store_ended_job_logs', {
  input: {},
  retries: 0,
  schedule: '* * * * *',
  run: async ({ signal, ...services }) => {
    for (let after = 0; ; ) {
      const logs = await logsToStore(services, after, batch);
      const rest = logs.values();
      const storeRest = async () => {
        for (const log of rest) {
          signal.throwIfAborted();
          await storeLog(services, log);
        }
      };
      await Promise.all(Array.from({ length: together }, storeRest));
      if (logs.length < batch) return;
      after = logs.at(-1)!.id;
    }
  },
});
