/** Background work of members. */
import { job } from '../../../jobs/index.ts';
import { removeExpiredMembers } from './removal_actions.ts';

/** Deletes expired memberships at 00:10 UTC, shortly after the ones that end today have expired. */
export const removeExpiredMemberships = job('remove_expired_memberships', {
  input: {},
  retries: 3,
  schedule: '10 0 * * *',
  run: async ({ db, log, signal }) => {
    const removed = await removeExpiredMembers(db, signal);
    log.info({ removed }, 'expired memberships removed');
  },
});
