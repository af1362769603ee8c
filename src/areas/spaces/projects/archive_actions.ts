/** Archiving projects, which makes them read-only. */
import { sql } from 'kysely';
import type { Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { endPolicies } from '../../code/security_policies/index.ts';
import { lockNamespace } from '../../people/namespaces/index.ts';

/**
 * Archives or unarchives a project. Archiving an archived project changes nothing.
 * @throws ApiError 400 when an ancestor group is archived, and for projects that are marked for deletion
 */
export async function setArchived(db: Database, project: Project, archived: boolean): Promise<void> {
  const verb = archived ? 'archive' : 'unarchive';
  if (project.marked_for_deletion) throw badRequest(`Cannot ${verb} project since it is scheduled for deletion.`);
  await db.transaction().execute(async (tx) => {
    const place = await lockNamespace(tx, project.namespace_id);
    const above = await tx
      .selectFrom('namespaces')
      .select('id')
      .where('id', 'in', place.traversal_ids)
      .where('archived', '=', true)
      .executeTakeFirst();
    if (above) throw badRequest(`Cannot ${verb} project since one of the ancestors is archived.`);
    if (archived) await endPolicies(tx, { project_id: project.id, group_id: null }, 'archived');
    await tx
      .updateTable('projects')
      .set({ archived, updated_at: sql`now()` })
      .where('id', '=', project.id)
      .where('archived', '<>', archived)
      .execute();
  });
}
