/** Sharing with groups. Each change locks both trees, writes the row and refreshes the authorizations (docs/reference/group_links.md). */
import { sql } from 'kysely';
import {
  endGrantsOfGroups,
  hasEnded,
  lockPlace,
  refreshAuthorizations,
  type Subtree,
  subtreeOf,
} from '../../../access/index.ts';
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

/** A predicate on rows of `group_links`: the link belongs to the target. */
const isOf = (target: Subtree) =>
  'group_id' in target
    ? sql<boolean>`group_links.group_id = ${target.group_id}`
    : sql<boolean>`group_links.project_id = ${target.project_id}`;

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
    .where(isOf(target))
    .where('invited_group_id', '=', invited_group_id)
    .returning('access_level')
    .executeTakeFirst();
  if (!gone) throw notFound('Group Link');
  if (gone.access_level > own_level) throw forbidden();
  await followEnd(tx, target, [invited_group_id]);
}

/**
 * Removes what the invited groups had through the link: the assignments of their members, and rights granted by rules.
 */
async function followEnd(tx: Database, target: Subtree, invited_group_ids: readonly number[]): Promise<void> {
  await refreshAuthorizations(tx, target);
  await endGrantsOfGroups(tx, [target], invited_group_ids);
}

/** Sources per query. */
const batch = 100;

/**
 * Deletes expired links. They are no longer in force, so each group or project can have a transaction of its own.
 * @param signal stops the work between two sources
 */
export async function removeExpiredLinks(db: Database, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const sources = await db
      .selectFrom('group_links')
      .select(['group_id', 'project_id'])
      .distinct()
      .where(hasEnded())
      .limit(batch)
      .execute();
    if (sources.length === 0) return;
    for (const source of sources) {
      signal?.throwIfAborted();
      await db.transaction().execute((tx) => removeExpired(tx, subtreeOf(source)));
    }
  }
}

async function removeExpired(tx: Database, target: Subtree): Promise<void> {
  await lockPlace(tx, target);
  const gone = await tx
    .deleteFrom('group_links')
    .where(isOf(target))
    .where(hasEnded())
    .returning('invited_group_id')
    .execute();
  await followEnd(
    tx,
    target,
    gone.map(({ invited_group_id }) => invited_group_id),
  );
}
