/** The archive: what is in it can be read, and nothing in it changes. */
import { sql } from 'kysely';
import type { Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { lockedPlace } from '../../people/namespaces/index.ts';

/**
 * Archives a project or brings it back. What is so already stays so.
 * @throws ApiError 400 where a group above decides, and for what is about to be removed
 */
export async function setArchived(db: Database, project: Project, archived: boolean): Promise<void> {
  const verb = archived ? 'archive' : 'unarchive';
  if (project.marked_for_deletion) throw badRequest(`Cannot ${verb} project since it is scheduled for deletion.`);
  await db.transaction().execute(async (tx) => {
    const place = await lockedPlace(tx, project.namespace_id);
    const above = await tx
      .selectFrom('namespaces')
      .select('id')
      .where('id', 'in', place.traversal_ids)
      .where('archived', '=', true)
      .executeTakeFirst();
    if (above) throw badRequest(`Cannot ${verb} project since one of the ancestors is archived.`);
    await tx
      .updateTable('projects')
      .set({ archived, updated_at: sql`now()` })
      .where('id', '=', project.id)
      .where('archived', '<>', archived)
      .execute();
  });
}
