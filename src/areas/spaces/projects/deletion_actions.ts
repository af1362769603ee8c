/** Deleting projects. A project is marked first, can be restored for some days, and is then deleted by a job. */
import { sql } from 'kysely';
import { lockTree, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { endPolicies } from '../../code/security_policies/index.ts';
import {
  type DeletableKind,
  type Deletion,
  deleteProjects,
  emptyProjects,
  lockedNamespaceOf,
  markOrRemove,
  removeDue,
  unmark,
} from '../../people/namespaces/index.ts';
import { refuseTaken } from './actions.ts';

const rename = (tx: Database, id: number, { name, path }: { name?: string; path?: string }) =>
  tx
    .updateTable('projects')
    .from('namespaces')
    .set({ name, path, updated_at: sql`now()` })
    .$if(path !== undefined, (q) => q.set({ full_path: sql`namespaces.full_path || '/' || ${path}::text` }))
    .whereRef('namespaces.id', '=', 'projects.namespace_id')
    .where('projects.id', '=', id)
    .execute();

const kind: DeletableKind = {
  table: 'projects',
  noun: 'Project',
  confirmed: 'project',
  rename,
  remove: (db, id) => removeProject.enqueue(db, { project_id: id }, { key: String(id) }),
};

/**
 * Marks a project for deletion, or schedules the immediate deletion of a marked one.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 404 when it no longer exists, 400 when it is already marked or cannot be deleted immediately, 412 when it changed after `unmodified_since`
 */
export async function endProject(tx: Database, project: Project, deletion: Deletion): Promise<void> {
  await endPolicies(tx, { project_id: project.id, group_id: null }, 'deleted');
  await markOrRemove(tx, kind, project, deletion);
}

/**
 * Restores a project that is marked for deletion, with its former name and path.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 400 when it is not marked itself, or when its name or path has been taken
 */
export async function restoreProject(tx: Database, project: Project): Promise<void> {
  const names = await unmark(tx, kind, project.id);
  const { id, full_path } = await lockedNamespaceOf(tx, project.namespace_id);
  await refuseTaken(tx, id, { name: names.name, full_path: names.path && `${full_path}/${names.path}` });
  await rename(tx, project.id, names);
}

const isMarked = (project_id: number) =>
  sql`projects.id = ${project_id} and projects.marked_for_deletion_at is not null`;

/**
 * Deletes a marked project with everything that belongs to it.
 * @returns whether the project existed and was marked
 */
const removeMarked = (db: Database, project_id: number): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    const project = await tx
      .selectFrom('projects')
      .select('namespace_id')
      .where('id', '=', project_id)
      .executeTakeFirst();
    if (!project) return false;
    await lockTree(tx, project.namespace_id);
    return (await deleteProjects(tx, isMarked(project_id))) > 0;
  });

/** Deletes one project, unless it was restored in the meantime. */
export const removeProject = job('remove_project', {
  input: { project_id: Id },
  retries: 10,
  run: async (call) => {
    const { db, input, log } = call;
    await emptyProjects(call, isMarked(input.project_id));
    if (await removeMarked(db, input.project_id)) log.info(input, 'deleted a project');
  },
});

/** Every hour: schedules the deletion of projects whose restore period has ended, each by a job of its own. */
export const removeMarkedProjects = job('remove_marked_projects', {
  input: {},
  retries: 2,
  schedule: '17 * * * *',
  run: ({ db }) => removeDue(db, kind),
});

/**
 * Schedules the deletion of a project whose creation has failed, without a restore period.
 * @param tx the transaction that abandons it
 */
export async function discardProject(tx: Database, id: number): Promise<void> {
  await tx.updateTable('projects').set({ marked_for_deletion_at: sql`now()` }).where('id', '=', id).execute();
  await removeProject.enqueue(tx, { project_id: id }, { key: String(id) });
}
