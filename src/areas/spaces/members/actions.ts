/** Changes of memberships. Each locks the tree, writes the rows and refreshes the authorizations (docs/reference/members.md). */
import { sql } from 'kysely';
import {
  countsToday,
  currentPlan,
  hasEnded,
  levels,
  refreshAuthorizations,
  type Subtree,
} from '../../../access/index.ts';
import { type Database, ofAnyLength, stamped } from '../../../db/index.ts';
import { badRequest, forbidden, found, invalid, reaches } from '../../../http/index.ts';
import { recordEvents } from '../../activity/events/index.ts';
import { forgetApprovals, heldBack } from './approval_actions.ts';
import { tellOfMembers } from './hook_actions.ts';
import { keptBeneath } from './linked_actions.ts';
import { hasOtherOwner, inherited, isDirect, isInvitable, lockedSource } from './queries.ts';
import { noSeatsText, type Refusal } from './refusal_rules.ts';
import { removeAccessRequests } from './request_actions.ts';
import { checkRole, type Grant, heldBy, roleColumn } from './role_checks.ts';
import { type Actor, isAbove, levelReasons, protectedRefusal, protectionOf, type Source } from './rules.ts';

export interface NewMembers extends Grant {
  user_ids: readonly number[];
  /** The first day on which the memberships are no longer in force, `YYYY-MM-DD`. */
  expires_at?: string | null | undefined;
  /** When the memberships began at another server; now if omitted. */
  created_at?: string | undefined;
  /** Whether existing members get the new level or are refused. */
  existing: 'change' | 'refuse';
  /** Whether it triggers no notifications and records no event. */
  is_quiet?: true;
}

/**
 * Adds users to a group or project. Users who cannot be added do not affect the others.
 * @param tx a transaction
 * @returns the refusal of each user who was not added
 * @throws ApiError 400 for a role that is not available there, 403 for one that the actor cannot give
 */
export async function addMembers(
  tx: Database,
  subtree: Subtree,
  actor: Actor,
  members: NewMembers,
): Promise<Map<number, Refusal>> {
  const source = await lockedSource(tx, subtree);
  const { access_level, member_role_id = null, expires_at = null } = members;
  await checkRole(tx, source, actor, members);
  const user_ids = [...new Set(members.user_ids)];
  const refusals = await refusalsOf(tx, source, actor, { ...members, user_ids });
  const eligible = user_ids.filter((id) => !refusals.has(id));
  const waiting = await heldBack(tx, source, actor, { user_ids: eligible, access_level, member_role_id, expires_at });
  for (const [id, refusal] of waiting) refusals.set(id, refusal);
  const seated = eligible.filter((id) => !waiting.has(id));
  const hand = { access_level, member_role_id, expires_at, created_by_id: actor.id };
  const beneath = await keptBeneath(tx, source, seated, hand);
  const accepted = seated.filter((id) => !beneath.includes(id));
  if (accepted.length === 0) return refusals;
  const rows = accepted.map((user_id) => ({
    ...subtree,
    user_id,
    access_level,
    member_role_id,
    expires_at,
    created_by_id: actor.id,
    ...(members.created_at !== undefined && { created_at: members.created_at }),
  }));
  const written = await tx
    .insertInto('members')
    .values(rows)
    .onConflict((conflict) =>
      // An existing row has either ended, so this is a new membership, or is updated.
      conflict.columns([source.kind === 'group' ? 'group_id' : 'project_id', 'user_id']).doUpdateSet({
        access_level,
        member_role_id: roleColumn(members),
        expires_at,
        source: null,
        created_by_id: sql`case when ${hasEnded('members')} then excluded.created_by_id else members.created_by_id end`,
        created_at: sql`case when ${hasEnded('members')} then now() else members.created_at end`,
        updated_at: sql`now()`,
      }),
    )
    .returning('user_id')
    // Created in this transaction, not updated.
    .returning(sql<boolean>`created_at = now()`.as('is_new'))
    .execute();
  const joined = written.filter(({ is_new }) => is_new).map(({ user_id }) => user_id);
  if (!members.is_quiet) {
    await recordMemberships(tx, subtree, joined, 'joined');
    await tellOfMembers(
      tx,
      'written',
      sql`${isDirect(source)} and user_id = any(${ofAnyLength(accepted, 'bigint[]')})`,
    );
  }
  // A member has no access request.
  await removeAccessRequests(tx, sql`${isDirect(source)} and user_id = any(${ofAnyLength(accepted, 'bigint[]')})`);
  await forgetApprovals(tx, source, accepted);
  await refreshAuthorizations(tx, subtree, accepted);
  return refusals;
}

/** Records events of memberships. Only projects have them, and the member is their author. */
export async function recordMemberships(
  tx: Database,
  place: Subtree,
  user_ids: readonly number[],
  action: 'joined' | 'left' | 'expired',
): Promise<void> {
  if (!('project_id' in place)) return;
  const { project_id } = place;
  const what = { project_id, action, target_type: 'Project' as const, target_id: project_id };
  await recordEvents(
    tx,
    user_ids.map((author_id) => ({ ...what, author_id })),
  );
}

async function refusalsOf(
  tx: Database,
  source: Source,
  actor: Actor,
  members: NewMembers,
): Promise<Map<number, Refusal>> {
  const { user_ids, access_level, expires_at = null, existing } = members;
  const above = await inherited(tx, source, user_ids);
  const withMinimal = await hasMinimal(tx);
  // Excludes all of these users, so that two owners do not stand in for each other.
  const otherOwner = await hasOtherOwner(tx, source, user_ids);
  const present = new Map((await heldBy(tx, source, user_ids)).map((member) => [member.user_id, member]));
  const refusals = new Map<number, Refusal>();
  for (const user_id of user_ids) {
    const own = user_id === source.personal_owner_id;
    const held = own ? ownerOfNamespace(user_id) : present.get(user_id);
    const reasons = levelReasons(source, access_level, above.get(user_id), withMinimal);
    const protection = held && protectionOf(source, actor, held, { access_level, expires_at }, otherOwner);
    if (held && existing === 'refuse') refusals.set(user_id, 'exists');
    else if (protection) refusals.set(user_id, protection);
    else if (reasons.length > 0) refusals.set(user_id, { access_level: reasons });
  }
  return refusals;
}

/** The owner of a namespace has their role in its projects without a membership. */
const ownerOfNamespace = (user_id: number) => ({
  user_id,
  user_type: 'human',
  access_level: levels.owner,
  expires_at: null,
  member_role_id: null,
  permissions: [],
});

/** Whether the current plan has minimal access. */
const hasMinimal = async (tx: Database): Promise<boolean> => reaches(await currentPlan(tx), 'premium');

/**
 * Imports the members of another project, with at most the actor's level. Users who already have the same or a higher level stay as they are.
 * Custom roles are not imported.
 * @param tx a transaction
 * @param from ID of the other project, which is visible to the actor
 */
export async function importMembers(tx: Database, project_id: number, actor: Actor, from: number): Promise<void> {
  const source = await lockedSource(tx, { project_id });
  const level = sql`least(members.access_level, ${actor.access_level}::integer)`;
  const { rows } = await sql<{ user_id: number }>`
    insert into members (project_id, user_id, access_level, expires_at, created_by_id)
    select ${project_id}, members.user_id, ${level}, members.expires_at, ${actor.id}
      from members join users on users.id = members.user_id
     where members.project_id = ${from} and ${countsToday('members')}
       and ${isInvitable} and users.id is distinct from ${source.personal_owner_id}::bigint
       and not exists (select from project_authorizations held where held.project_id = ${project_id} and held.user_id = users.id
                          and held.access_level >= ${level} and ${countsToday('held')})
    on conflict (project_id, user_id) do update
       set access_level = excluded.access_level, member_role_id = null, expires_at = excluded.expires_at, created_by_id = excluded.created_by_id,
           created_at = now(), updated_at = now()
     where ${hasEnded('members')}
    returning user_id`.execute(tx);
  const user_ids = rows.map(({ user_id }) => user_id);
  await recordMemberships(tx, { project_id }, user_ids, 'joined');
  await tellOfMembers(tx, 'written', sql`${isDirect(source)} and user_id = any(${ofAnyLength(user_ids, 'bigint[]')})`);
  // A member has no access request.
  await removeAccessRequests(tx, sql`${isDirect(source)} and user_id = any(${ofAnyLength(user_ids, 'bigint[]')})`);
  await forgetApprovals(tx, source, user_ids);
  await refreshAuthorizations(tx, { project_id }, user_ids);
}

/**
 * The membership in force of a user in a source.
 * @throws ApiError 404 without one, 403 for the owner of the namespace
 */
export async function memberOf(tx: Database, source: Source, user_id: number) {
  if (user_id === source.personal_owner_id) throw forbidden();
  const [member] = await heldBy(tx, source, [user_id]);
  return found(undefined, member);
}

export interface MemberChange extends Grant {
  user_id: number;
  /** If omitted, the expiry does not change. */
  expires_at?: string | null | undefined;
}

/**
 * Updates a member's level, custom role and expiry.
 * @param tx a transaction
 * @returns `queued` when an administrator must approve the change first
 * @throws ApiError 404 without a membership, 403 for a change that this actor may not make, 400 for a level below the inherited one or other than that of a
 * new custom role, and when no seat is left
 */
export async function changeMember(
  tx: Database,
  subtree: Subtree,
  actor: Actor,
  change: MemberChange,
): Promise<'changed' | 'queued'> {
  const { user_id, access_level, expires_at } = change;
  if (access_level > actor.access_level) throw forbidden();
  const source = await lockedSource(tx, subtree);
  const member = await memberOf(tx, source, user_id);
  await checkRole(tx, source, actor, change);
  const kept = access_level === member.access_level ? member.member_role_id : null;
  const { member_role_id = kept } = change;
  const wanted = {
    access_level,
    member_role_id,
    expires_at: expires_at === undefined ? member.expires_at : expires_at,
  };
  const protection = protectionOf(source, actor, member, wanted, await hasOtherOwner(tx, source, [user_id]));
  if (protection) throw protectedRefusal(protection);
  const above = (await inherited(tx, source, [user_id])).get(user_id);
  const reasons = levelReasons(source, access_level, above, await hasMinimal(tx));
  if (reasons.length > 0) throw invalid({ access_level: reasons });
  const waiting = (await heldBack(tx, source, actor, { ...wanted, user_ids: [user_id] })).get(user_id);
  if (waiting === 'no seat') throw badRequest(noSeatsText(actor));
  if (waiting) return waiting;
  const isSame = access_level === member.access_level && member_role_id === member.member_role_id;
  // What a link gives is not made by hand by saving it as it is.
  if (member.source !== null && isSame && wanted.expires_at === null) return 'changed';
  const beneath = await keptBeneath(tx, source, [user_id], { ...wanted, created_by_id: actor.id });
  if (beneath.length > 0) return 'changed';
  const by_hand = member.source === null ? {} : { created_by_id: actor.id, source: null };
  await tx
    .updateTable('members')
    .set(stamped({ access_level, member_role_id: roleColumn(change), expires_at, ...by_hand }))
    .where('id', '=', member.id)
    .execute();
  await tellOfMembers(tx, 'update', sql`id = ${member.id}`);
  await forgetApprovals(tx, source, [user_id]);
  await refreshAuthorizations(tx, subtree, [user_id]);
  return 'changed';
}

/**
 * Refuses actions on a member who has a higher level or more permissions than the actor. Users without a membership pass.
 * @param tx a transaction
 * @throws ApiError 403
 */
export async function refuseAbove(tx: Database, subtree: Subtree, actor: Actor, user_id: number): Promise<void> {
  const source = await lockedSource(tx, subtree);
  const held = await heldBy(tx, source, [user_id]);
  if (held.some((member) => isAbove(actor, source.kind, member))) throw forbidden();
}
