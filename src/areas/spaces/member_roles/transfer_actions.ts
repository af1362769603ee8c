/** Roles after transfers of groups and projects: a role stays with its top-level group. */
import { type RawBuilder, sql } from 'kysely';
import type { Subtree } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';

/** Tables whose rows can have a role: memberships, and rows that can become one. */
const carriers = ['members', 'invitations', 'member_approvals'] as const;
/** The same of groups only. */
const carriersInGroups = ['members_by_hand', 'ldap_group_links', 'saml_group_links'] as const;

/**
 * Removes roles of other top-level groups from the members, invitations and pending promotions of a moved group or project. Their access levels stay. The roles of a
 * group that is no longer a top-level group are deleted.
 * @param tx the transaction of the transfer, before it refreshes authorizations
 */
export async function dropForeignRoles(tx: Database, moved: Subtree): Promise<void> {
  const isFarther = (root: RawBuilder<unknown>) =>
    sql`member_roles.group_id is not null and member_roles.group_id <> ${root}`;
  for (const table of [...carriers, ...('group_id' in moved ? carriersInGroups : [])]) {
    const rows = sql.table(table);
    const isOfProject = (carriers as readonly string[]).includes(table);
    const place = isOfProject
      ? sql`coalesce(${rows}.group_id, (select namespace_id from projects where projects.id = ${rows}.project_id))`
      : sql`${rows}.group_id`;
    // A user's namespace is not a group, so its projects keep only roles of the instance.
    await sql`
      update ${rows} set member_role_id = null
        from member_roles, namespaces
       where member_roles.id = ${rows}.member_role_id and ${isFarther(sql`namespaces.traversal_ids[1]`)}
         and namespaces.id = ${place}
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
