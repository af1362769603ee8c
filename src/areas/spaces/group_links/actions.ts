/** Complete changes of invitations of groups: each locks both trees, writes the row, and brings the authorizations up to date. */
import { sql } from 'kysely';
import { lockTrees, refreshAuthorizations, type Subtree } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { conflict, forbidden, notFound } from '../../../http/index.ts';
import { sourceOf } from '../members/index.ts';

export interface NewGroupLink {
  invited_group_id: number;
  /** The most that a member of the invited group gets. */
  access_level: number;
  /** The first day on which the invitation does not count, `YYYY-MM-DD`. */
  expires_at: string | null;
}

/**
 * Invites a group into another, or into a project.
 * @param tx a transaction
 * @returns the id of the link
 * @throws ApiError 409 when it is invited already, 404 when one of them is gone
 */
export async function inviteGroup(tx: Database, target: Subtree, link: NewGroupLink): Promise<number> {
  await lockedFor(tx, target, link.invited_group_id);
  // One that has ended is in the way of nothing.
  const { rows } = await sql<{ id: number }>`
    insert into group_links (group_id, project_id, invited_group_id, access_level, expires_at)
    select ${'group_id' in target ? target.group_id : null}::bigint, ${'project_id' in target ? target.project_id : null}::bigint,
           id, ${link.access_level}, ${link.expires_at}::date
      from namespaces where id = ${link.invited_group_id} and kind = 'group'
    on conflict (${sql.ref('group_id' in target ? 'group_id' : 'project_id')}, invited_group_id) do update
       set access_level = excluded.access_level, expires_at = excluded.expires_at, created_at = now(), updated_at = now()
     where group_links.expires_at <= current_date
    returning id`.execute(tx);
  if (rows.length === 0) throw conflict('Shared group has already been taken');
  await refreshAuthorizations(tx, target);
  return rows[0]!.id;
}

/**
 * Ends an invitation.
 * @param tx a transaction
 * @param own_level of who ends it
 * @throws ApiError 404 when there is none, 403 when it gives more than who ends it has
 */
export async function uninviteGroup(tx: Database, target: Subtree, invited_group_id: number, own_level: number): Promise<void> {
  await lockedFor(tx, target, invited_group_id);
  const gone = await tx
    .deleteFrom('group_links')
    .where((q) => ('group_id' in target ? q('group_id', '=', target.group_id) : q('project_id', '=', target.project_id)))
    .where('invited_group_id', '=', invited_group_id)
    .returning('access_level')
    .executeTakeFirst();
  if (!gone) throw notFound('Group Link');
  if (gone.access_level > own_level) throw forbidden();
  await refreshAuthorizations(tx, target);
}

/** Both trees, and where the members of a group that invites come by invitations themselves, because all of its rights are derived anew. */
async function lockedFor(tx: Database, target: Subtree, invited_group_id: number): Promise<void> {
  const { namespace_id } = await sourceOf(tx, target);
  await lockTrees(tx, [namespace_id, invited_group_id], 'group_id' in target ? [namespace_id] : []);
}

/** Links that one run of the job looks at before it asks again. */
const batch = 100;

/**
 * Removes the invitations that have ended. They have not counted since; this is only tidying.
 * @param signal ends the work between two of them
 */
export async function removeExpiredLinks(db: Database, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const gone = await sql`
      delete from group_links where id in (select id from group_links where expires_at <= current_date limit ${batch})`.execute(
      db,
    );
    if ((gone.numAffectedRows ?? 0n) < BigInt(batch)) return;
    signal?.throwIfAborted();
  }
}
