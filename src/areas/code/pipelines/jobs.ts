/** Putting statuses into pipelines that were written without one: before there were pipelines, or by a process of the version before. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';
import { assignStatuses } from './assignment_actions.ts';

/** How many statuses a transaction looks at. */
const most = 1000;

/** The commits of the oldest statuses without a pipeline, of one project. */
async function nextCommits(db: Database) {
  const { rows } = await sql<{ project_id: number; shas: string[] }>`
    select project_id, array_agg(distinct sha) as shas
      from (select project_id, sha, first_value(project_id) over (order by id) as chosen
              from (select id, project_id, sha from commit_statuses where pipeline_id is null order by id limit ${sql.lit(most)}) oldest) seen
     where project_id = chosen group by project_id`.execute(db);
  return rows[0];
}

/** Every minute, and until none is left: statuses without a pipeline get theirs. */
export const assignPipelines = job('assign_pipelines', {
  input: {},
  retries: 0,
  schedule: '* * * * *',
  run: async ({ db, signal }) => {
    for (let commits = await nextCommits(db); commits; commits = await nextCommits(db)) {
      signal.throwIfAborted();
      const next = commits;
      await db.transaction().execute((tx) => assignStatuses(tx, next));
    }
  },
});
