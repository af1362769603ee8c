/** A newer commit of a branch makes older pipelines redundant (docs/reference/pipelines.md#redundant-pipelines). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { cancelJobs, cancelPipeline } from './change_actions.ts';

/** Nothing has begun in a row of `pipelines` and its children that cannot be interrupted. A predicate on rows of `commit_statuses`. */
const hasBegunNothing = (id: number) => sql`not exists (
  with recursive family(id) as (select ${id}::bigint union all select pipelines.id from pipelines join family on parent_id = family.id)
  select from commit_statuses begun join family on family.id = begun.pipeline_id
   where begun.kind = 'job' and begun.started_at is not null and not begun.interruptible)`;

/** A bridge that waits ends with what it waits for. */
const isInterruptible = sql`interruptible and not (kind = 'bridge' and status = 'running')`;

/**
 * Cancels pipelines of a branch whose commit is no longer its head: `conservative` ones, with their children, if all that has begun in them can be interrupted, and of
 * `interruptible` ones each job that can be. An open parent decides for its children.
 */
export async function cancelRedundant(
  db: Database,
  { project_id, ref, head }: { project_id: number; ref: string; head: string },
): Promise<void> {
  const { rows } = await sql<{ id: number; on_new_commit: string; is_top: boolean }>`
    select pipelines.id, pipelines.on_new_commit, parent.id is null as is_top
      from pipelines join projects on projects.id = pipelines.project_id
           left join pipelines parent on parent.id = pipelines.parent_id and parent.status not in ('success', 'failed', 'canceled', 'skipped')
     where pipelines.project_id = ${project_id} and pipelines.ref = ${ref} and not pipelines.tag and pipelines.sha <> ${head}
       and pipelines.source not in ('external', 'schedule') and pipelines.status not in ('success', 'failed', 'canceled', 'skipped')
       and pipelines.on_new_commit in ('conservative', 'interruptible') and projects.auto_cancel_pending_pipelines = 'enabled'
     order by pipelines.id`.execute(db);
  for (const { id, on_new_commit, is_top } of rows) {
    const older = { project_id, id };
    if (on_new_commit === 'interruptible') await cancelJobs(db, older, isInterruptible);
    else if (is_top) await cancelPipeline(db, older, hasBegunNothing(id));
  }
}
