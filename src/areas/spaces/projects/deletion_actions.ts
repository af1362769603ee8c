/** Deleting projects. A project is marked first, can be restored for some days, and is then deleted by a job. */
import { sql } from 'kysely';
import { lockTree, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest, checkUnmodified, found, Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { deleteRepositories } from '../../people/namespaces/index.ts';

export interface ProjectDeletion {
  /** Whether to delete a marked project immediately. */
  permanently_remove: boolean;
  /** The full path, as a confirmation of an immediate deletion. */
  full_path?: string | undefined;
  unmodified_since: Date | undefined;
}

/**
 * Marks a project for deletion, or schedules the immediate deletion of a marked one.
 * @throws ApiError 404 when it no longer exists, 400 when it is already marked or cannot be deleted immediately, 412 when it changed after `unmodified_since`
 */
export async function endProject(db: Database, project: Project, deletion: ProjectDeletion): Promise<void> {
  const { permanently_remove, full_path, unmodified_since } = deletion;
  const query = db.selectFrom('projects').select(['marked_for_deletion_at', 'updated_at']).where('id', '=', project.id);
  const { marked_for_deletion_at, updated_at } = found('Project', await query.executeTakeFirst());
  checkUnmodified(updated_at, unmodified_since);
  if (permanently_remove) {
    if (marked_for_deletion_at === null) throw badRequest('Project must be marked for deletion first.');
    if (full_path !== project.full_path)
      throw badRequest('`full_path` is incorrect. You must enter the complete path for the project.');
    await removeProject.enqueue(db, { project_id: project.id }, { key: String(project.id) });
  } else if (marked_for_deletion_at !== null || (!project.marked_for_deletion && !(await mark(db, project.id))))
    throw badRequest('Project has been already marked for deletion');
}

/** @returns whether it was not marked before: the first request sets the date of the deletion */
async function mark(db: Database, id: number): Promise<boolean> {
  const marked = await db
    .updateTable('projects')
    .set({ marked_for_deletion_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('marked_for_deletion_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return marked !== undefined;
}

/**
 * Restores a project that is marked for deletion.
 * @throws ApiError 400 when it is not marked itself
 */
export async function restoreProject(db: Database, project_id: number): Promise<void> {
  const restored = await db
    .updateTable('projects')
    .set({ marked_for_deletion_at: null, updated_at: sql`now()` })
    .where('id', '=', project_id)
    .where('marked_for_deletion_at', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  if (!restored) throw badRequest('Project has not been marked for deletion');
}

/**
 * Deletes a marked project with everything that belongs to it. Another job deletes its repository, which is unreachable without the row.
 * @returns whether the project existed and was marked
 */
const removeMarked = (db: Database, project_id: number): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    const project = await tx.selectFrom('projects').select('namespace_id').where('id', '=', project_id).executeTakeFirst();
    if (!project) return false;
    await lockTree(tx, project.namespace_id);
    const removed = await tx
      .deleteFrom('projects')
      .where('id', '=', project_id)
      .where('marked_for_deletion_at', 'is not', null)
      .returning(['id', 'storage'])
      .execute();
    if (removed.length > 0) await deleteRepositories.enqueue(tx, { repositories: removed });
    return removed.length > 0;
  });

/** Deletes one project, unless it was restored in the meantime. */
export const removeProject = job('remove_project', {
  input: { project_id: Id },
  retries: 10,
  run: async ({ db, input, log }) => {
    if (await removeMarked(db, input.project_id)) log.info(input, 'deleted a project');
  },
});

/** The most projects per run. */
const atOnce = 1000;

/** Every hour: schedules the deletion of projects whose restore period is over, each by a job of its own. */
export const removeMarkedProjects = job('remove_marked_projects', {
  input: {},
  retries: 2,
  schedule: '17 * * * *',
  run: async ({ db }) => {
    const due = await db
      .selectFrom('projects')
      .select('id')
      .where(
        sql<boolean>`marked_for_deletion_at <= now() - (select make_interval(days => deletion_adjourned_period) from application_settings)`,
      )
      .orderBy('marked_for_deletion_at')
      .limit(atOnce)
      .execute();
    for (const { id } of due) await removeProject.enqueue(db, { project_id: id }, { key: String(id) });
  },
});
