/** Approving and denying promotions. */
import { sql } from 'kysely';
import { levels, subtreeOf } from '../../../access/index.ts';
import { endReasons } from '../../../cron/index.ts';
import type { Database } from '../../../db/index.ts';
import { conflict, found, unprocessable } from '../../../http/index.ts';
import { addMembers } from './actions.ts';
import { lockedSource } from './queries.ts';
import { refusalText } from './refusal_rules.ts';

/** Locks a pending promotion, so that two administrators do not both decide. */
async function pendingApproval(tx: Database, id: number) {
  const approval = found(
    undefined,
    await tx.selectFrom('member_approvals').selectAll().where('id', '=', id).forUpdate().executeTakeFirst(),
  );
  if (approval.status !== 'pending') throw conflict('409 Conflict');
  return approval;
}

/**
 * Approves a promotion.
 * @param tx a transaction
 * @param admin_id the administrator who decides
 * @throws ApiError 404, 409 when it is already decided, 422 with the reason when the user can no longer have the role
 */
export async function approve(tx: Database, id: number, admin_id: number): Promise<void> {
  const known = found(
    undefined,
    await tx.selectFrom('member_approvals').select(['group_id', 'project_id']).where('id', '=', id).executeTakeFirst(),
  );
  const place = subtreeOf(known);
  await lockedSource(tx, place);
  const { user_id, access_level, member_role_id, expires_at } = await pendingApproval(tx, id);
  // Otherwise an expired membership would replace one that is in force.
  const [past] = endReasons(expires_at);
  if (past !== undefined) throw unprocessable(`Expires at ${past}`);
  await decide(tx, id, 'approved', admin_id);
  const actor = { id: admin_id, access_level: levels.owner, permissions: [] };
  const members = { user_ids: [user_id], access_level, member_role_id, expires_at, existing: 'change' as const };
  const refusal = (await addMembers(tx, place, actor, members)).get(user_id);
  if (refusal !== undefined) throw unprocessable(refusalText(refusal, actor));
}

/**
 * Denies a promotion.
 * @param tx a transaction
 * @param admin_id the administrator who decides
 * @throws ApiError 404, 409 when it is already decided
 */
export async function deny(tx: Database, id: number, admin_id: number): Promise<void> {
  await pendingApproval(tx, id);
  await decide(tx, id, 'denied', admin_id);
}

async function decide(tx: Database, id: number, status: 'approved' | 'denied', reviewed_by_id: number): Promise<void> {
  await tx
    .updateTable('member_approvals')
    .set({ status, reviewed_by_id, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute();
}
