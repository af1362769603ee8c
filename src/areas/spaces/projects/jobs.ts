/** Background work of projects. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';

/** Projects per statement. */
const batch = 1000;

/**
 * Replaces the rows that count the open issues of a project by their sum (docs/decisions/0034-open-issues-are-sums.md). It skips projects that are being deleted, and
 * locks rows in the order of their IDs, so that it deadlocks neither with a deletion nor with itself.
 * @returns for how many projects; at most one batch
 */
async function addUpSome(db: Database): Promise<number> {
  const { rows } = await sql<{ projects: number }>`
    with several as (select id from projects
                      where id in (select project_id from open_issue_counts group by project_id having count(*) > 1 order by project_id limit ${sql.lit(batch)})
                        for key share skip locked),
         counted as (select id from open_issue_counts where project_id in (select id from several) order by id for update),
         removed as (delete from open_issue_counts where id in (select id from counted) returning project_id, opened, confidential),
         added as (insert into open_issue_counts (project_id, opened, confidential)
                   select project_id, sum(opened), sum(confidential) from removed
                    group by project_id having sum(opened) <> 0 or sum(confidential) <> 0)
    select count(*) as projects from several`.execute(db);
  return rows[0]!.projects;
}

/** Every minute: each list of projects adds up what has changed since. */
export const addUpOpenIssues = job('add_up_open_issues', {
  input: {},
  retries: 2,
  schedule: '* * * * *',
  run: async ({ db, signal }) => {
    for (let some = batch; some === batch; ) {
      signal.throwIfAborted();
      some = await addUpSome(db);
    }
  },
});
