/** Moves issues out of iterations that have ended (docs/reference/iterations.md#behavior). */
import { sql } from 'kysely';
import { rollOver } from '../../planning/iterations/index.ts';

/** Moves open issues to the next iteration. The events have no user. */
export const rollIssuesOver = rollOver.runBy(async ({ db, input: { cadence_id, ended } }) => {
  await sql`
    with next as (select id from iterations where cadence_id = ${cadence_id} and state < 3 order by start_date limit 1),
         moved as (update issues set iteration_id = next.id, updated_at = now() from next
                    where iteration_id = any(${ended}::bigint[]) and issues.state = 'opened'
                   returning issues.id, iteration_id)
    insert into resource_iteration_events (issue_id, iteration_id, action) select id, iteration_id, 'add' from moved`.execute(
    db,
  );
});
