/** Background work of access tokens. */
import { sql } from 'kysely';
import { job } from '../../jobs/index.ts';
import { scheduleRemoval } from '../user_removal/index.ts';

/** A run leaves the rest to the next one. */
const atOnce = 1000;

/** Every hour: has the users of tokens removed whose project or group is gone. */
export const removeOrphanedBots = job('remove_orphaned_bots', {
  input: {},
  retries: 2,
  schedule: '27 * * * *',
  run: async ({ db }) => {
    const orphans = await db
      .selectFrom('users')
      .select('id')
      .where('user_type', '=', sql.lit('project_bot'))
      .where((q) => q.not(q.exists(q.selectFrom('access_token_bots').select('user_id').whereRef('user_id', '=', 'users.id'))))
      .limit(atOnce)
      .execute();
    for (const { id } of orphans) await db.transaction().execute((tx) => scheduleRemoval(tx, id, false));
  },
});
