/** Deleting memberships. Each change locks the tree, deletes the rows and refreshes the authorizations. */
import { sql } from 'kysely';
import {
  countsToday,
  hasEnded,
  levels,
  type Permission,
  refreshAuthorizations,
  type Subtree,
  subtreeOf,
} from '../../../access/index.ts';
import { type Database, referencesTo, releaseReferences } from '../../../db/index.ts';
import { checkUnmodified, forbidden, notFound } from '../../../http/index.ts';
import { recordEvents } from '../../activity/events/index.ts';
import { isOwnedBy, ownersByTable } from '../../planning/references/index.ts';
import { atLeaving } from '../../references.ts';
import { memberOf, recordMemberships } from './actions.ts';
import { tellOfMembers } from './hook_actions.ts';
import { settleEnded } from './linked_actions.ts';
import { hasOtherOwner, isDirect, lockedSource } from './queries.ts';
import { type Actor, isAbove, protectedRefusal, protectionOf } from './rules.ts';
import { endWhatWaits } from './waiting_actions.ts';

interface Removal {
  user_id: number;
  below: boolean;
  unassigns?: boolean;
  unmodified_since?: Date | undefined;
}

/**
 * Deletes a membership, with the pending invitations that the member sent and the pending promotions of the member.
 * @param tx a transaction
 * @param below whether this also applies to subgroups and projects
 * @param unassigns whether the member is also removed from the assignees and reviewers of everything in the group or project
 * @throws ApiError 404 without a membership, 403 as for an update, 412 when it changed after `unmodified_since`
 */
export async function removeMember(
  tx: Database,
  subtree: Subtree,
  actor: Actor,
  { user_id, below, unassigns = false, unmodified_since }: Removal,
): Promise<void> {
  const source = await lockedSource(tx, subtree);
  const member = await memberOf(tx, source, user_id);
  const protection = protectionOf(source, actor, member, undefined, await hasOtherOwner(tx, source, [user_id]));
  if (protection) throw protectedRefusal(protection);
  checkUnmodified(member.updated_at, unmodified_since);
  if (below && user_id !== actor.id) await refuseAboveInside(tx, subtree, actor, user_id);
  await tellOfMembers(tx, 'remove', sql`id = ${member.id}`);
  await tx.deleteFrom('members').where('id', '=', member.id).execute();
  await recordMemberships(tx, subtree, [user_id], 'left');
  if (below && 'group_id' in subtree) await removeBelow(tx, subtree.group_id, user_id);
  await endWhatWaits(
    tx,
    (table) => (below && 'group_id' in subtree ? isInside(subtree.group_id, table) : isDirect(source, table)),
    [user_id],
  );
  await refreshAuthorizations(tx, subtree, [user_id]);
  if (unassigns) await unassign(tx, subtree, user_id);
}

/**
 * Deletes all memberships of a user in a group and below it, whether they are a member of the group itself or not.
 * @param tx a transaction
 * @throws ApiError 404 without a membership, 403 as for an update
 */
export async function removeEverywhere(
  tx: Database,
  subtree: { group_id: number },
  actor: Actor,
  user_id: number,
): Promise<void> {
  const source = await lockedSource(tx, subtree);
  const own = tx.selectFrom('members').select('id').where(isDirect(source)).where('user_id', '=', user_id);
  if (await own.executeTakeFirst()) return removeMember(tx, subtree, actor, { user_id, below: true });
  await refuseAboveInside(tx, subtree, actor, user_id);
  if (!(await removeBelow(tx, subtree.group_id, user_id))) throw notFound('User');
  await endWhatWaits(tx, (table) => isInside(subtree.group_id, table), [user_id]);
  await refreshAuthorizations(tx, subtree, [user_id]);
}

/** As in v4, without system notes: it is not a decision about a single issue. */
async function unassign(tx: Database, subtree: Subtree, user_id: number): Promise<void> {
  const owners = await ownersByTable(tx);
  for (const reference of await referencesTo(tx, 'users'))
    if (atLeaving[`${reference.table}.${reference.column}`] === 'ends if asked')
      await releaseReferences(tx, reference, [user_id], isOwnedBy(owners, subtree, reference.table));
}

/** A predicate on rows of a table with `group_id` and `project_id`: they belong to a group or to anything inside it. */
const isInside = (group_id: number, table = 'members') => {
  const groups = sql`select id from namespaces where traversal_ids @> ${[group_id]}::bigint[]`;
  return sql<boolean>`(${sql.ref(`${table}.group_id`)} in (${groups})
    or ${sql.ref(`${table}.project_id`)} in (select id from projects where namespace_id in (${groups})))`;
};

/**
 * Refuses actors below Owner when the member has a higher level or more permissions further down.
 * @throws ApiError 403
 */
async function refuseAboveInside(tx: Database, place: Subtree, actor: Actor, user_id: number): Promise<void> {
  if (!('group_id' in place) || actor.access_level >= levels.owner) return;
  const held = await tx
    .selectFrom('members')
    .leftJoin('member_roles', 'member_roles.id', 'members.member_role_id')
    .select('members.access_level')
    .select(sql<Permission[]>`coalesce(member_roles.permissions, '{}')`.as('permissions'))
    .where('members.user_id', '=', user_id)
    .where(countsToday('members'))
    .where(isInside(place.group_id))
    .execute();
  if (held.some((membership) => isAbove(actor, 'group', membership))) throw forbidden();
}

/** @returns whether there was a membership */
async function removeBelow(tx: Database, group_id: number, user_id: number): Promise<boolean> {
  await tellOfMembers(tx, 'remove', sql`user_id = ${user_id} and ${isInside(group_id)}`);
  const { rows } = await sql<{ project_id: number | null }>`
    delete from members where user_id = ${user_id} and ${isInside(group_id)} returning project_id`.execute(tx);
  await recordEvents(
    tx,
    rows.flatMap(({ project_id }) =>
      project_id === null
        ? []
        : [{ project_id, author_id: user_id, action: 'left', target_type: 'Project', target_id: project_id }],
    ),
  );
  return rows.length > 0;
}

/** Sources per query. */
const batch = 100;

/**
 * Deletes expired memberships. They are no longer in force, so each group or project can have a transaction of its own.
 * @param signal stops the work between two sources
 * @returns the number of deleted memberships
 */
export async function removeExpiredMembers(db: Database, signal?: AbortSignal): Promise<number> {
  let removed = 0;
  for (;;) {
    const sources = await db
      .selectFrom('members')
      .select(['group_id', 'project_id'])
      .distinct()
      .where(hasEnded())
      .limit(batch)
      .execute();
    if (sources.length === 0) return removed;
    for (const source of sources) {
      signal?.throwIfAborted();
      removed += await db.transaction().execute((tx) => removeExpired(tx, subtreeOf(source)));
    }
  }
}

async function removeExpired(tx: Database, subtree: Subtree): Promise<number> {
  const source = await lockedSource(tx, subtree);
  if ('group_id' in subtree) await settleEnded(tx, subtree.group_id);
  await tellOfMembers(tx, 'remove', sql`${isDirect(source)} and ${hasEnded()}`);
  const gone = await tx.deleteFrom('members').where(isDirect(source)).where(hasEnded()).returning('user_id').execute();
  const user_ids = gone.map(({ user_id }) => user_id);
  await recordMemberships(tx, subtree, user_ids, 'expired');
  await endWhatWaits(tx, (table) => isDirect(source, table), user_ids);
  await refreshAuthorizations(tx, subtree, user_ids);
  return gone.length;
}
