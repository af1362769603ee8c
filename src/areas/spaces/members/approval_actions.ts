/** Promotions that an administrator must approve because they take a seat of the license (setting `enable_member_promotion_management`). */
import { sql } from 'kysely';
import { planInForce } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { isDirect } from './queries.ts';
import type { Grant } from './role_checks.ts';
import type { Source } from './rules.ts';
import { hasSeatsFor, newlyBillable } from './seat_queries.ts';
import { asSubtree } from './source_access.ts';

/** Who gives a role; null for somebody who is gone. */
type ApprovalActor = { id: number | null };

export interface WantedRole extends Grant {
  user_ids: readonly number[];
  /** `YYYY-MM-DD`. */
  expires_at: string | null;
}

/** Whether promotions by an actor need an approval: the setting is on, Ultimate is in force, and the actor is not an administrator. */
export async function mustWait(tx: Database, actor: ApprovalActor): Promise<boolean> {
  const { rows } = await sql`
    select from application_settings
     where enable_member_promotion_management and ${planInForce} = 'ultimate'
       and not exists (select from users where id = ${actor.id} and admin)`.execute(tx);
  return rows.length > 0;
}

/**
 * Queues users who would take a new seat for approval. A newer request for the same user replaces a pending one.
 * @param tx a transaction that has locked the source
 * @param actor the user who gives the role
 * @returns the IDs of the queued users
 */
async function queueForApproval(
  tx: Database,
  source: Source,
  actor: ApprovalActor,
  { user_ids, access_level, member_role_id = null, expires_at }: WantedRole,
): Promise<number[]> {
  if (!(await mustWait(tx, actor))) return [];
  const waiting = await newlyBillable(tx, user_ids, { access_level, member_role_id });
  if (waiting.length === 0) return [];
  await forgetApprovals(tx, source, waiting);
  const wanted = { ...asSubtree(source), access_level, member_role_id, expires_at, requested_by_id: actor.id };
  await tx
    .insertInto('member_approvals')
    .values(waiting.map((user_id) => ({ ...wanted, user_id })))
    .execute();
  return waiting;
}

/**
 * Finds users who cannot have a role yet, because they need an approval or no seat is left.
 * @param tx a transaction that has locked the source
 * @returns the reason by user
 */
export async function heldBack(
  tx: Database,
  source: Source,
  actor: ApprovalActor,
  wanted: WantedRole,
): Promise<Map<number, 'queued' | 'no seat'>> {
  const queued = new Set(await queueForApproval(tx, source, actor, wanted));
  const user_ids = wanted.user_ids.filter((id) => !queued.has(id));
  const unseated = (await hasSeatsFor(tx, { user_ids, addresses: 0 }, wanted))
    ? []
    : await newlyBillable(tx, user_ids, wanted);
  return new Map([
    ...[...queued].map((id) => [id, 'queued'] as const),
    ...unseated.map((id) => [id, 'no seat'] as const),
  ]);
}

/** Deletes pending promotions of users who got a role in another way. */
export async function forgetApprovals(tx: Database, source: Source, user_ids: readonly number[]): Promise<void> {
  await sql`
    delete from member_approvals where ${isDirect(source)} and status = 'pending' and user_id = any(${ofAnyLength(user_ids, 'bigint[]')})`.execute(
    tx,
  );
}
