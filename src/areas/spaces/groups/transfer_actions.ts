/** Moving a group with everything in it to another path or parent. */
import { sql } from 'kysely';
import {
  endGrantsAfterMove,
  type Group,
  isLastingOwner,
  isMoreVisible,
  levels,
  lockTrees,
  refreshAuthorizations,
  type VisibilityName,
} from '../../../access/index.ts';
import { type Database, isUniqueViolation } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { leaveTopLevel } from '../../activity/audit_event_streaming_destinations/index.ts';
import { leaveFrameworks } from '../../code/compliance_frameworks/index.ts';
import { endPoliciesAfterMove } from '../../code/security_policies/index.ts';
import { isPathTaken, type LockedNamespace, lockedNamespaceOf, moveGroup } from '../../people/namespaces/index.ts';
import { leaveFormerGroups } from '../../planning/references/index.ts';
import { dropForeignRoles } from '../member_roles/transfer_actions.ts';
import { maximumDepth } from './rules.ts';

const failed = (reason: string) => badRequest(`Transfer failed: ${reason}`);

/**
 * Transfers a group to another parent or to the top level. Groups and projects that are more visible than the new
 * parent get its visibility, and the group keeps an owner.
 * @param tx a transaction
 * @param actor the user who transfers it
 * @param parent the new parent, with the actor's level in it; undefined for the top level, where the actor may create
 * groups
 * @throws ApiError 400 with the reason when the group cannot be transferred there
 */
export async function transferGroup(
  tx: Database,
  actor: { id: number },
  group_id: number,
  parent: Group | undefined,
): Promise<void> {
  if (parent && (parent.access_level < levels.owner || parent.archived || parent.marked_for_deletion))
    throw failed("You don't have enough permissions.");
  await lockTrees(tx, parent ? [group_id, parent.id] : [group_id], [group_id]);
  const place = await lockedNamespaceOf(tx, group_id);
  const above = parent && (await lockedNamespaceOf(tx, parent.id));
  await refuseUnfit(tx, place, above);
  try {
    await moveGroup(tx, place, place.path, above);
  } catch (error) {
    // At the top level there is no tree to lock, so two groups can take the same path at the same time.
    if (isUniqueViolation(error, 'namespaces_full_path_key')) throw failed(pathTaken);
    throw error;
  }
  await leaveFormerGroups(tx, { group_id }, place.traversal_ids.at(-2) ?? null, above?.id ?? null);
  if (above) {
    await hideBelow(tx, group_id, above.visibility);
    await leaveTopLevel(tx, group_id);
  }
  await keepOwner(tx, group_id, actor.id);
  await tx.updateTable('namespaces').set({ updated_at: sql`now()` }).where('id', '=', group_id).execute();
  await dropForeignRoles(tx, { group_id });
  await leaveFrameworks(tx, { group_id });
  await refreshAuthorizations(tx, { group_id });
  await endGrantsAfterMove(tx, { group_id }, place.traversal_ids.at(-2));
  await endPoliciesAfterMove(tx, { project_id: null, group_id });
}

const pathTaken = 'The parent group already has a subgroup or a project with the same path.';

async function refuseUnfit(tx: Database, place: LockedNamespace, above: LockedNamespace | undefined): Promise<void> {
  const parent_id = place.traversal_ids.at(-2);
  if (!above && parent_id === undefined) throw failed('Group is already a root group.');
  if (above && above.id === parent_id) throw failed('Group is already associated to the parent group.');
  if (above?.traversal_ids.includes(place.id))
    throw failed('The group cannot move into itself or into a group inside it.');
  if (await isPathTaken(tx, above ? `${above.full_path}/${place.path}` : place.path)) throw failed(pathTaken);
  const { rows } = await sql<{ namesake: boolean; depth: number }>`
    select exists (select from namespaces where parent_id = ${above?.id ?? null}::bigint and name = ${place.name}) as namesake,
           (select max(cardinality(traversal_ids)) from namespaces where traversal_ids @> ${[place.id]}::bigint[]) as depth`.execute(
    tx,
  );
  const { namesake, depth } = rows[0]!;
  if (namesake) throw failed(pathTaken);
  if ((above?.traversal_ids.length ?? 0) + depth - place.traversal_ids.length + 1 > maximumDepth)
    throw failed('The groups would have too deep a level of nesting.');
}

/** A child is never more visible than its parent. */
async function hideBelow(tx: Database, group_id: number, visibility: VisibilityName): Promise<void> {
  const tooVisible = (['internal', 'public'] as const).filter((one) => isMoreVisible(one, visibility));
  if (tooVisible.length === 0) return;
  const below = sql<boolean>`namespaces.traversal_ids @> ${[group_id]}::bigint[]`;
  await tx.updateTable('namespaces').set({ visibility }).where(below).where('visibility', 'in', tooVisible).execute();
  await tx
    .updateTable('projects')
    .from('namespaces')
    .set({ visibility })
    .whereRef('namespaces.id', '=', 'projects.namespace_id')
    .where(below)
    .where('projects.visibility', 'in', tooVisible)
    .execute();
}

/** Makes the actor an owner if the group would have no direct or inherited owner who stays. */
async function keepOwner(tx: Database, group_id: number, user_id: number): Promise<void> {
  await sql`
    insert into members (group_id, user_id, access_level, created_by_id)
    select ${group_id}, ${user_id}, ${levels.owner}, ${user_id}
     where not exists (
       select from members join users on users.id = members.user_id join namespaces on members.group_id = any(namespaces.traversal_ids)
        where namespaces.id = ${group_id} and ${isLastingOwner})
    on conflict (group_id, user_id) do update
       set access_level = ${levels.owner}, member_role_id = null, expires_at = null, source = null, updated_at = now()`.execute(
    tx,
  );
}
