/** Archiving groups, which makes everything in them read-only. */
import { sql } from 'kysely';
import type { Group } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { unprocessable } from '../../../http/index.ts';
import { endPolicies } from '../../code/security_policies/index.ts';
import { lockNamespace } from '../../people/namespaces/index.ts';

/**
 * Archives or unarchives a group.
 * @throws ApiError 422 when nothing changes, when an ancestor is archived, and for groups that are marked for deletion
 */
export async function setArchived(db: Database, group: Group, archived: boolean): Promise<void> {
  const verb = archived ? 'archive' : 'unarchive';
  if (group.marked_for_deletion) throw unprocessable(`Cannot ${verb} group since it is scheduled for deletion.`);
  await db.transaction().execute(async (tx) => {
    const place = await lockNamespace(tx, group.id);
    const rows = await tx
      .selectFrom('namespaces')
      .select(['id', 'archived'])
      .where('id', 'in', place.traversal_ids)
      .where('archived', '=', true)
      .execute();
    if (rows.some(({ id }) => id !== group.id))
      throw unprocessable(`Cannot ${verb} group since one of the ancestor groups is archived!`);
    if (rows.length > 0 === archived) throw unprocessable(`Group is already ${verb}d!`);
    if (archived) await endPolicies(tx, { project_id: null, group_id: group.id }, 'archived');
    await tx.updateTable('namespaces').set({ archived, updated_at: sql`now()` }).where('id', '=', group.id).execute();
  });
}
