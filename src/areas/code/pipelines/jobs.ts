/** Assigns statuses without a pipeline to pipelines: statuses from before pipelines existed, or written by a process of the previous version. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';
import { assignStatuses } from './assignment_actions.ts';

/** The most statuses per transaction. */
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

/** Every minute, and until none is left: assigns statuses without a pipeline. */
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

/** The commits of pipelines that are open although their statuses are final. */
async function nextStale(db: Database, after: number) {
  const { rows } = await sql<{ project_id: number; shas: string[] | null; last_id: number }>`
    with open as materialized (
      select id, project_id, sha, status from pipelines
       where source = 'external' and status not in ('success', 'failed', 'canceled', 'skipped') and id > ${after} order by id limit ${sql.lit(most)}
    ), states as (
      select open.*, exists (select from commit_statuses where pipeline_id = open.id and status = 'running' and not retried) as runs,
             exists (select from commit_statuses where pipeline_id = open.id and status = 'pending' and not retried) as waits
        from open
    )
    select project_id, array_agg(distinct sha) filter (where not runs and not waits or status = 'pending' and runs) as shas,
           (select max(id) from open) as last_id
      from states group by project_id`.execute(db);
  return rows;
}

/**
 * Every hour: a process of the previous version, which does not know pipelines, may have finished a status in one. All its other reports are statuses without a pipeline, which
 * `assign_pipelines` finds.
 */
export const refreshPipelines = job('refresh_pipelines', {
  input: {},
  retries: 0,
  schedule: '23 * * * *',
  run: async ({ db, signal }) => {
    for (let after = 0; ; ) {
      const rows = await nextStale(db, after);
      if (rows.length === 0) return;
      after = rows[0]!.last_id;
      for (const { project_id, shas } of rows) {
        signal.throwIfAborted();
        if (shas !== null) await db.transaction().execute((tx) => assignStatuses(tx, { project_id, shas }));
      }
    }
  },
});
