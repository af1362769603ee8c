/** What becomes of roles when groups and projects move: they stay in the tree of the top-level group that they belong to. */
import { type RawBuilder, sql } from 'kysely';
import type { Subtree } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/** What can carry a role: memberships, and what is to become one. */
const carriers = ['members', 'invitations', 'member_approvals'] as const;

/**
 * Takes roles of other trees from the members of what has moved, from those who are invited, and from those who wait for an approval. Their levels stay. The roles
 * of a group that is no longer at the top go.
 * @param tx the transaction that has moved it, before authorizations are derived anew
 */
export async function dropForeignRoles(tx: Database, moved: Subtree): Promise<void> {
  const isFarther = (root: RawBuilder<unknown>) => sql`member_roles.group_id is not null and member_roles.group_id <> ${root}`;
  for (const table of carriers) {
    const rows = sql.table(table);
    // A user's namespace is no group, so that its projects keep roles of the instance alone.
    await sql`
      update ${rows} set member_role_id = null
        from member_roles, namespaces
       where member_roles.id = ${rows}.member_role_id and ${isFarther(sql`namespaces.traversal_ids[1]`)}
         and namespaces.id = coalesce(${rows}.group_id, (select namespace_id from projects where projects.id = ${rows}.project_id))
         and ${'group_id' in moved ? sql`namespaces.traversal_ids @> ${[moved.group_id]}::bigint[]` : sql`${rows}.project_id = ${moved.project_id}`}`.execute(
      tx,
    );
  }
  if ('group_id' in moved)
    await sql`
      delete from member_roles using namespaces
       where member_roles.group_id = ${moved.group_id} and namespaces.id = ${moved.group_id} and namespaces.parent_id is not null`.execute(
      tx,
    );
}
