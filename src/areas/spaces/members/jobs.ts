/** Background work of members. */
import { job } from '../../../jobs/index.ts';
import { removeExpiredMembers } from './removal_actions.ts';

/** At ten past midnight UTC, when the memberships that end today have just stopped counting. */
export const removeExpiredMemberships = job('remove_expired_memberships', {
  input: {},
  retries: 3,
  schedule: '10 0 * * *',
  run: async ({ db, log, signal }) => {
    const removed = await removeExpiredMembers(db, signal);
    log.info({ removed }, 'expired memberships removed');
  },
});
