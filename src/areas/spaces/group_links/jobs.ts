/** Background work of sharing with groups. */
import { job } from '../../../jobs/index.ts';
import { removeExpiredLinks } from './actions.ts';

/** Deletes expired links at 00:20 UTC, shortly after the ones that end today have expired. */
export const removeExpiredGroupLinks = job('remove_expired_group_links', {
  input: {},
  retries: 3,
  schedule: '20 0 * * *',
  run: ({ db, signal }) => removeExpiredLinks(db, signal),
});
