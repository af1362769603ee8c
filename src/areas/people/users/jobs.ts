/** What happens to accounts at night. */
import { job } from '../../../jobs/index.ts';
import { deactivateDormant } from './moderation_actions.ts';

/** Deactivates accounts without activity, if the settings say so. */
export const deactivateDormantUsers = job('deactivate_dormant_users', {
  input: {},
  retries: 3,
  schedule: '40 2 * * *',
  run: ({ db }) => deactivateDormant(db),
});
