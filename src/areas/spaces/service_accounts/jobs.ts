/** Background work of service accounts. */
import { job } from '../../../jobs/index.ts';
import { scheduleRemovalOfOrphans } from '../../people/users/index.ts';

/** Every hour: schedules the deletion of accounts whose group was deleted. They have been unusable since. */
export const removeOrphanedServiceAccounts = job('remove_orphaned_service_accounts', {
  input: {},
  retries: 2,
  schedule: '37 * * * *',
  run: ({ db }) => scheduleRemovalOfOrphans(db, 'service_account', 'service_accounts'),
});
