/** Background work of access tokens. */
import { job } from '../../../jobs/index.ts';
import { scheduleRemovalOfOrphans } from '../../people/users/index.ts';

/** Every hour: schedules the deletion of bot users whose project or group was deleted. */
export const removeOrphanedBots = job('remove_orphaned_bots', {
  input: {},
  retries: 2,
  schedule: '27 * * * *',
  run: ({ db }) => scheduleRemovalOfOrphans(db, 'project_bot', 'access_token_bots'),
});
