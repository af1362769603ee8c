/** A newer commit of a branch makes older pipelines redundant (docs/reference/pipelines.md#redundant-pipelines). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { cancelJobs } from './change_actions.ts';

/**
 * Cancels pipelines of a branch whose commit is no longer its head: `conservative` ones if all that has begun in them can be interrupted, and of `interruptible` ones each job
 * that can be.
 */
export async function cancelRedundant(
  db: Database,
  { project_id, ref, head }: { project_id: number; ref: string; head: string },
): Promise<void> {
  const { rows } = await sql<{ id: number; on_new_commit: string }>`
    select pipelines.id, on_new_commit from pipelines join projects on projects.id = pipelines.project_id
     where pipelines.project_id = ${project_id} and ref = ${ref} and not tag and sha <> ${head}
       and source not in ('external', 'schedule', 'parent_pipeline') and status not in ('success', 'failed', 'canceled', 'skipped')
       and on_new_commit in ('conservative', 'interruptible') and projects.auto_cancel_pending_pipelines = 'enabled'
     order by pipelines.id`.execute(db);
  for (const older of rows)
    await cancelJobs(
      db,
      { project_id, id: older.id },
      older.on_new_commit === 'interruptible'
        ? sql`interruptible`
        : sql`not exists (
            select from commit_statuses begun where begun.pipeline_id = ${older.id} and begun.started_at is not null and not begun.interruptible)`,
    );
}
