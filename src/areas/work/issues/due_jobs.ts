/** Notifications about issues that are due (docs/reference/notifications.md). */
import { sql } from 'kysely';
import { job } from '../../../jobs/index.ts';
import { notifying } from '../../activity/notifications/index.ts';

/** Every night, for issues due on the next day. */
export const tellOfDueIssues = job('tell_of_due_issues', {
  input: {},
  retries: 5,
  schedule: '50 0 * * *',
  run: async ({ db }) => {
    await sql`
      with today as (insert into due_notices (day) values (current_date) on conflict do nothing returning day),
      ${notifying(sql`
        select 'issue_due' as event, 'Issue' as target_type, issues.id as target_id, null::bigint as actor_id, '{}'::bigint[] as user_ids
          from today join issues on issues.due_date = today.day + 1 where issues.state = 'opened'`)} select`.execute(
      db,
    );
    await sql`delete from due_notices where day < current_date - 7`.execute(db);
  },
});
