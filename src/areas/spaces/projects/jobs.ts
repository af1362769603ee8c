/** Background work of projects. */
import { sql } from 'kysely';
import type { Poll } from '../../../jobs/index.ts';

/** Projects per statement. */
const batch = 1000;

/**
 * Replaces the rows that count the open issues of a project by their sum (docs/decisions/0034-open-issues-are-sums.md). It skips projects that are being deleted, and
 * locks rows in the order of their IDs, so that it deadlocks neither with a deletion nor with itself.
 */
export const addUpOpenIssues: Poll = {
  name: 'add_up_open_issues',
  every_ms: 2000,
  run: async ({ db }) => {
    const { rows } = await sql<{ projects: number }>`
      with several as (select id from projects
                        where id in (select distinct project_id from open_issue_counts where not is_sum order by project_id limit ${sql.lit(batch)})
                          for key share skip locked),
           counted as (select id from open_issue_counts where project_id in (select id from several) order by id for update),
           removed as (delete from open_issue_counts where id in (select id from counted) returning project_id, opened, confidential),
           added as (insert into open_issue_counts (project_id, opened, confidential, is_sum)
                     select project_id, sum(opened), sum(confidential), true from removed
                      group by project_id having sum(opened) <> 0 or sum(confidential) <> 0)
      select count(*) as projects from several`.execute(db);
    return rows[0]!.projects === batch;
  },
};
