/** Background work of service accounts. */
import { job } from '../../../jobs/index.ts';
import { scheduleRemovalOfOrphans } from '../../people/users/removal_index.ts';

/** Every hour: has the accounts removed whose group is gone. They may do nothing since then. */
export const removeOrphanedServiceAccounts = job('remove_orphaned_service_accounts', {
  input: {},
  retries: 2,
  schedule: '37 * * * *',
  run: ({ db }) => scheduleRemovalOfOrphans(db, 'service_account', 'service_accounts'),
});
