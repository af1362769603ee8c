/** Background work of invitations of groups. */
import { job } from '../../../jobs/index.ts';
import { removeExpiredLinks } from './actions.ts';

/** At twenty past midnight UTC, when the invitations that end today have just stopped counting. */
export const removeExpiredGroupLinks = job('remove_expired_group_links', {
  input: {},
  retries: 3,
  schedule: '20 0 * * *',
  run: ({ db, signal }) => removeExpiredLinks(db, signal),
});
