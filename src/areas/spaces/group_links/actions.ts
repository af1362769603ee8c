/** Sharing with groups. Each change locks both trees, writes the row and refreshes the authorizations (docs/reference/group_links.md). */
import { sql } from 'kysely';
import { hasEnded, refreshAuthorizations, type Subtree } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { conflict, forbidden, notFound } from '../../../http/index.ts';

export interface NewGroupLink {
  invited_group_id: number;
  /** The maximum access level for members of the invited group. */
  access_level: number;
  /** The first day on which the share is no longer in force, `YYYY-MM-DD`. */
  expires_at: string | null;
}

/**
 * Shares a group or project with a group.
 * @param tx a transaction that has locked both trees
 * @returns the ID of the link
 * @throws ApiError 409 when it is already shared with the group, 404 when one of them no longer exists
 */
export async function inviteGroup(tx: Database, target: Subtree, link: NewGroupLink): Promise<number> {
  // An expired link is replaced.
  const { rows } = await sql<{ id: number }>`
    insert into group_links (group_id, project_id, invited_group_id, access_level, expires_at)
    select ${'group_id' in target ? target.group_id : null}::bigint, ${'project_id' in target ? target.project_id : null}::bigint,
           id, ${link.access_level}, ${link.expires_at}::date
      from namespaces where id = ${link.invited_group_id} and kind = 'group'
    on conflict (${sql.ref('group_id' in target ? 'group_id' : 'project_id')}, invited_group_id) do update
       set access_level = excluded.access_level, expires_at = excluded.expires_at, created_at = now(), updated_at = now()
     where ${hasEnded('group_links')}
    returning id`.execute(tx);
  if (rows.length === 0) throw conflict('Shared group has already been taken');
  await refreshAuthorizations(tx, target);
  return rows[0]!.id;
}

/**
 * Stops sharing with a group.
 * @param tx a transaction that has locked both trees
 * @param own_level the caller's access level
 * @throws ApiError 404 without a link, 403 when it gives a higher level than the caller's
 */
export async function uninviteGroup(
  tx: Database,
  target: Subtree,
  invited_group_id: number,
  own_level: number,
): Promise<void> {
  const gone = await tx
    .deleteFrom('group_links')
    .where((q) =>
      'group_id' in target ? q('group_id', '=', target.group_id) : q('project_id', '=', target.project_id),
    )
    .where('invited_group_id', '=', invited_group_id)
    .returning('access_level')
    .executeTakeFirst();
  if (!gone) throw notFound('Group Link');
  if (gone.access_level > own_level) throw forbidden();
  await refreshAuthorizations(tx, target);
}

/** Links per query. */
const batch = 100;

/**
 * Deletes expired links. They are no longer in force.
 * @param signal stops the work between two batches
 */
export async function removeExpiredLinks(db: Database, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const gone = await sql`
      delete from group_links where id in (select id from group_links where ${hasEnded()} limit ${batch})`.execute(db);
    if ((gone.numAffectedRows ?? 0n) < BigInt(batch)) return;
    signal?.throwIfAborted();
  }
}
