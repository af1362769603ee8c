/** Background jobs that keep the code index up to date. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import type { PushFollower } from '../../../services/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { indexProject, markStale, removeUnusedTexts } from './index_actions.ts';

/** Whether searches use the index. */
const isKept = async (db: Database): Promise<boolean> => (await settingsOf(db)).code_search === 'on';

/** Enqueued by `indexSoon`. */
export const indexCode = job('index_code', {
  input: { project_id: Id },
  retries: 2,
  run: async ({ input, signal, ...services }) => {
    if (await isKept(services.db)) await indexProject(services, input.project_id, signal);
  },
});

/** How long to wait for further commits, so that a quick succession of commits is indexed once. */
const pause_s = 5;

/**
 * Schedules indexing of a project.
 * @param tx the transaction that moves its default branch
 */
async function indexSoon(tx: Database, project_id: number): Promise<void> {
  await markStale(tx, project_id);
  await indexCode.enqueue(tx, { project_id }, { key: String(project_id), after_s: pause_s });
}

/** Schedules indexing of projects when their default branch has moved or was replaced. */
export const indexFollower: PushFollower = {
  follow:
    async (_services, { owner, moved }) =>
    async (tx, default_branch) => {
      if (moved.length === 0 || moved.some(({ ref }) => ref === `refs/heads/${default_branch}`))
        await indexSoon(tx, owner.id);
    },
};

const enqueuedAtOnce = 500;

/**
 * Indexes projects that were never indexed (such as those older than the index), retries failed ones, and indexes those again for which an earlier version indexed
 * only the paths of text files; removes unreferenced contents.
 */
export const keepCodeIndex = job('keep_code_index', {
  input: {},
  retries: 0,
  schedule: '*/10 * * * *',
  run: async ({ db }) => {
    if (!(await isKept(db))) return;
    const { rows } = await sql<{ project_id: number }>`
      insert into code_indexes (project_id)
      select projects.id from projects left join code_indexes on code_indexes.project_id = projects.id
       where not empty_repo
         and (code_indexes.project_id is null or ((is_stale or not has_all_paths) and coalesce(failed_at < now() - interval '1 day', true)))
       order by projects.id limit ${enqueuedAtOnce}
          on conflict (project_id) do update
             set is_stale = true, commit_id = case when code_indexes.has_all_paths then code_indexes.commit_id end
      returning project_id`.execute(db);
    await indexCode.enqueueEach(db, rows);
    while ((await removeUnusedTexts(db)) > 0);
  },
});

/**
 * Schedules indexing from the beginning, for one project or for all.
 * @returns the number of projects
 */
export async function indexAgain(db: Database, project_id?: number): Promise<number> {
  const isAsked = project_id === undefined ? sql`true` : sql`id = ${project_id}`;
  const { rows } = await sql<{ project_id: number }>`
    with again as (
      insert into code_indexes (project_id) select id from projects where not empty_repo and ${isAsked}
          on conflict (project_id) do update set commit_id = null, is_stale = true, changes = code_indexes.changes + 1, error = null, failed_at = null
      returning project_id),
    emptied as (delete from code_files where project_id in (select project_id from again))
    select project_id from again order by project_id`.execute(db);
  await indexCode.enqueueEach(db, rows);
  return rows.length;
}
