/** Background work of the limits in these settings. */
import { forgetOldCounts } from '../../../access/index.ts';
import { job } from '../../../jobs/index.ts';

/** Every hour. */
export const removeOldRequestCounts = job('remove_old_request_counts', {
  input: {},
  retries: 1,
  schedule: '17 * * * *',
  run: ({ db }) => forgetOldCounts(db),
});
