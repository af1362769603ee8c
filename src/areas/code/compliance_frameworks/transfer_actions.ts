/** Compliance frameworks after transfers of groups and projects: a framework stays with its top-level group. */
import { sql } from 'kysely';
import type { Subtree } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/**
 * Takes the frameworks of other top-level groups from the projects of a moved group or project. The frameworks of a group that is no longer a top-level group are
 * deleted.
 * @param tx the transaction of the transfer
 */
export async function leaveFrameworks(tx: Database, moved: Subtree): Promise<void> {
  const isMoved =
    'group_id' in moved
      ? sql`place.traversal_ids @> ${[moved.group_id]}::bigint[]`
      : sql`projects.id = ${moved.project_id}`;
  await sql`
    delete from project_compliance_frameworks held using projects, namespaces place, compliance_frameworks framework
     where projects.id = held.project_id and place.id = projects.namespace_id and framework.id = held.framework_id
       and ${isMoved} and framework.group_id <> place.traversal_ids[1]`.execute(tx);
  if ('group_id' in moved)
    await sql`
      delete from compliance_frameworks using namespaces
       where compliance_frameworks.group_id = ${moved.group_id} and namespaces.id = ${moved.group_id} and namespaces.parent_id is not null`.execute(
      tx,
    );
}
