/** States of accounts (docs/reference/users.md#account-states). Every request reads the state of its user, so that changes take effect at once. */
import { sql } from 'kysely';
import { isInternal } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, conflict, forbidden, found } from '../../../http/index.ts';

/** After this many days without a request, an account can be deactivated. */
const dormant_days = 90;

interface Account {
  state: string;
  user_type: string;
  is_dormant: boolean;
}

async function accountOf(db: Database, id: number): Promise<Account> {
  const query = db
    .selectFrom('users')
    .select(['state', 'user_type'])
    .select(sql<boolean>`coalesce(last_activity_on <= current_date - ${sql.lit(dormant_days)}, true)`.as('is_dormant'))
    .where('id', '=', id);
  return found('User', await query.executeTakeFirst());
}

const refused = (text: string) => new ApiError(403, { message: text });

/** @returns whether the state changed; false when a concurrent request was faster */
async function changeState(db: Database, id: number, from: string[], state: string): Promise<boolean> {
  const changed = await db
    .updateTable('users')
    .set({ state, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('state', 'in', from)
    .executeTakeFirst();
  return changed.numUpdatedRows > 0n;
}

/**
 * Blocks a user.
 * @param caller_id the administrator; undefined for the operator of the server
 * @returns whether something changed
 * @throws ApiError 404, 403 for the administrator themselves and for accounts that belong to no person
 */
export async function blockUser(db: Database, caller_id: number | undefined, id: number): Promise<boolean> {
  const { user_type, state } = await accountOf(db, id);
  if (id === caller_id) throw forbidden('The API initiating user cannot be blocked by the API');
  if (isInternal(user_type)) throw refused('An internal user cannot be blocked');
  if (state === 'ldap_blocked') throw forbidden('LDAP blocked users cannot be modified by the API');
  return changeState(db, id, ['active', 'deactivated'], 'blocked');
}

/**
 * Unblocks a user.
 * @returns whether something changed
 * @throws ApiError 404, 403 for a deactivated user
 */
export async function unblockUser(db: Database, id: number): Promise<boolean> {
  const { state } = await accountOf(db, id);
  if (state === 'deactivated') throw forbidden('Deactivated users cannot be unblocked by the API');
  if (state === 'ldap_blocked') throw forbidden('LDAP blocked users cannot be unblocked by the API');
  return changeState(db, id, ['blocked', 'blocked_pending_approval'], 'active');
}

/**
 * Deactivates an inactive account.
 * @returns whether something changed
 * @throws ApiError 404, 403 for blocked and recently active users and for accounts that belong to no person
 */
export async function deactivateUser(db: Database, id: number): Promise<boolean> {
  const { state, user_type, is_dormant } = await accountOf(db, id);
  if (state === 'deactivated') return false;
  if (state !== 'active') throw refused('Error occurred. A blocked user cannot be deactivated');
  if (isInternal(user_type)) throw refused('Internal users cannot be deactivated');
  if (!is_dormant)
    throw refused(
      `The user you are trying to deactivate has been active in the past ${dormant_days} days and cannot be deactivated`,
    );
  return changeState(db, id, ['active'], 'deactivated');
}

/** Deactivates the accounts of people without activity for as long as the settings say, if they do. */
export async function deactivateDormant(db: Database): Promise<void> {
  await sql`
    update users set state = 'deactivated', updated_at = now()
      from application_settings
     where deactivate_dormant_users and users.state = 'active' and users.user_type = 'human' and not users.admin
       and coalesce(users.last_activity_on, users.created_at::date) <= current_date - deactivate_dormant_users_period`.execute(
    db,
  );
}

/**
 * Activates a deactivated account.
 * @throws ApiError 404, 403 for blocked and banned users
 */
export async function activateUser(db: Database, id: number): Promise<void> {
  const { state } = await accountOf(db, id);
  if (state !== 'active' && state !== 'deactivated')
    throw refused('Error occurred. A blocked user must be unblocked to be activated');
  await changeState(db, id, ['deactivated'], 'active');
}

/**
 * Bans a user.
 * @throws ApiError 404, 403 for accounts that are not active
 */
export async function banUser(db: Database, id: number): Promise<void> {
  const { state, user_type } = await accountOf(db, id);
  if (isInternal(user_type)) throw refused('You cannot ban internal users.');
  if (!(await changeState(db, id, ['active'], 'banned'))) throw refused(`You cannot ban ${state} users.`);
}

/**
 * Unbans a user.
 * @throws ApiError 404, 403 for accounts that are not banned
 */
export async function unbanUser(db: Database, id: number): Promise<void> {
  const { state } = await accountOf(db, id);
  if (!(await changeState(db, id, ['banned'], 'active'))) throw refused(`You cannot unban ${state} users.`);
}

/**
 * Approves a pending account.
 * @throws ApiError 404, 409 for accounts that are not pending approval
 */
export async function approveUser(db: Database, id: number): Promise<void> {
  await accountOf(db, id);
  if (!(await changeState(db, id, ['blocked_pending_approval'], 'active')))
    throw conflict('The user you are trying to approve is not pending approval');
}
