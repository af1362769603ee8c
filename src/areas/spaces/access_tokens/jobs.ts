/** Background work of access tokens. */
import { job } from '../../../jobs/index.ts';
import { scheduleRemovalOfOrphans } from '../../people/users/removal_index.ts';

/** Every hour: has the users of tokens removed whose project or group is gone. */
export const removeOrphanedBots = job('remove_orphaned_bots', {
  input: {},
  retries: 2,
  schedule: '27 * * * *',
  run: ({ db }) => scheduleRemovalOfOrphans(db, 'project_bot', 'access_token_bots'),
});
