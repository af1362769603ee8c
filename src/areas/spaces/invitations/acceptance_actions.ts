/** Accepting and declining invitations. */
import { currentPlan, isGroup, levels, subtreeOf } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, reaches } from '../../../http/index.ts';
import { addMembers } from '../members/actions.ts';
import { isDirect, isLocked, lockedSource } from '../members/queries.ts';
import type { Refusal } from '../members/refusal_rules.ts';
import { checkRole } from '../members/role_checks.ts';
import type { Actor, Source } from '../members/rules.ts';
import { tellOfAcceptance, tellOfRefusal } from './mail_jobs.ts';
import { invitationNumbered, invitationsFor, inviterOf, type Objection, type OpenInvitation } from './queries.ts';
import { endOfAccess } from './rules.ts';

/**
 * The outcome of accepting an invitation: `joined`; `known` for a user who already has access; `queued` for an approval; `no seat`, `locked` and objections when
 * the invitation stays pending.
 */
export type Outcome = 'joined' | 'known' | 'queued' | 'no seat' | 'locked' | Objection;

/**
 * Accepts an invitation for a user. The invitation is deleted, unless a missing seat, a lock or the rights of its inviter are in the
 * way, which may change.
 * @param tx a transaction
 * @param user_id ID of an active user who has confirmed the invited address
 * @returns undefined when the invitation no longer exists
 */
export async function acceptInvitation(
  tx: Database,
  { id }: { id: number },
  user_id: number,
): Promise<Outcome | undefined> {
  const known = await invitationNumbered(tx, id);
  if (!known) return undefined;
  const source = await lockedSource(tx, subtreeOf(known));
  // Read again under the lock, which every response and every change takes.
  const invitation = await invitationNumbered(tx, id);
  if (!invitation) return undefined;
  if (await isLockedNow(tx, source, invitation)) return 'locked';
  const inviter = await inviterOf(tx, invitation);
  if (typeof inviter === 'string') return inviter;
  const refusal = await join(tx, source, invitation, inviter, user_id);
  if (refusal === 'no seat') return refusal;
  await tx.deleteFrom('invitations').where('id', '=', id).execute();
  if (refusal === 'queued') return refusal;
  if (refusal !== undefined) return 'known';
  await tellInviter(tx, source, user_id);
  return 'joined';
}

/** Whether the invitation cannot be accepted now: memberships are locked, the group is read-only, or the plan has no minimal access. */
async function isLockedNow(tx: Database, source: Source, { access_level }: OpenInvitation): Promise<boolean> {
  if (await isReadOnly(tx, source)) return true;
  if (!reaches(await currentPlan(tx), 'premium')) return access_level === levels.minimal;
  return isLocked(tx, source);
}

/** Whether members of a group cannot be changed. Those of a project can, in any state. */
async function isReadOnly(tx: Database, { kind, id }: Source): Promise<boolean> {
  if (kind === 'project') return false;
  const group = tx.selectFrom('namespaces').select('id').where('id', '=', id);
  const readOnly = group.where((q) => q.or([isGroup('archived'), isGroup('marked_for_deletion')]));
  return (await readOnly.executeTakeFirst()) !== undefined;
}

/** Adds the member on behalf of the inviter. */
async function join(
  tx: Database,
  source: Source,
  invitation: OpenInvitation,
  actor: Actor,
  user_id: number,
): Promise<Refusal | undefined> {
  const { access_level } = invitation;
  const expires_at = endOfAccess(invitation.expires_at);
  const member_role_id = await usableRole(tx, source, actor, invitation);
  const members = { user_ids: [user_id], access_level, member_role_id, expires_at, existing: 'refuse' as const };
  return (await addMembers(tx, subtreeOf(invitation), actor, members)).get(user_id);
}

/** The custom role of an invitation; null when it is no longer available there, for instance after a transfer of the group. */
async function usableRole(
  tx: Database,
  source: Source,
  actor: Actor,
  { member_role_id, access_level }: OpenInvitation,
) {
  try {
    await checkRole(tx, source, actor, { member_role_id, access_level });
    return member_role_id;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

async function tellInviter(tx: Database, source: Source, user_id: number): Promise<void> {
  const { id } = await tx
    .selectFrom('members')
    .select('id')
    .where(isDirect(source))
    .where('user_id', '=', user_id)
    .executeTakeFirstOrThrow();
  await tellOfAcceptance.enqueue(tx, { member_id: id });
}

/**
 * Accepts all invitations to an address that a user has confirmed. Each has a transaction of its own, since it locks a whole tree of groups.
 * @param signal stops the work between two invitations
 */
export async function acceptPending(db: Database, user_id: number, email: string, signal?: AbortSignal): Promise<void> {
  for (const invitation of await invitationsFor(db, email)) {
    signal?.throwIfAborted();
    await db.transaction().execute((tx) => acceptInvitation(tx, invitation, user_id));
  }
}

/**
 * Declines an invitation: deletes it and notifies the inviter.
 * @param tx a transaction
 * @returns whether the invitation still existed
 */
export async function declineInvitation(tx: Database, invitation: OpenInvitation): Promise<boolean> {
  const { id, group_id, project_id, invite_email, created_by_id } = invitation;
  await lockedSource(tx, subtreeOf(invitation));
  const removed = await tx.deleteFrom('invitations').where('id', '=', id).returning('id').executeTakeFirst();
  if (!removed) return false;
  if (created_by_id === null) return true;
  await tx
    .insertInto('declined_invitations')
    .values({ id, group_id, project_id, invite_email, inviter_id: created_by_id })
    .execute();
  await tellOfRefusal.enqueue(tx, { declined_id: id });
  return true;
}
