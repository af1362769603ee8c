/** What follows when a user gets or loses a second factor (docs/reference/second_factors.md). */
import { sql } from 'kysely';
import { hasSecondFactor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { notFound, unprocessable } from '../../../http/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import { noteChange } from '../account_notices/jobs.ts';
import { endSessions } from '../sessions/actions.ts';
import { renewRecoveryCodes } from './code_actions.ts';
import { factorsOf } from './queries.ts';

/** A user who changes their own factors. */
export interface Actor {
  id: number;
  /** The session in which they do it. */
  session: { id: number };
}

type Kind = 'authenticator' | 'webauthn_key';

const auditFactors = (
  tx: Database,
  id: number,
  event_name: 'user_enable_two_factor' | 'user_disable_two_factor',
  custom_message: string,
): Promise<void> => audit(tx, { event_name, entity: { type: 'User', id }, details: { custom_message } });

/** Locks a user, so that two changes of their factors follow one another. */
async function hasAny(tx: Database, user_id: number): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select ${hasSecondFactor} as has from users where users.id = ${user_id} for update`.execute(tx);
  return rows[0]!.has;
}

/**
 * Adds a factor. The other sessions of the user end, because whoever has one of them may not have the factor.
 * @param tx a transaction
 * @returns recovery codes, if it is the first factor of the user
 */
export async function factorAdded(
  tx: Database,
  { id, session }: Actor,
  kind: Kind,
  add: () => Promise<void>,
): Promise<string[] | undefined> {
  const isFirst = !(await hasAny(tx, id));
  await add();
  await endSessions(tx, id, session.id);
  await noteChange(tx, id, `${kind}_added`);
  if (isFirst) await auditFactors(tx, id, 'user_enable_two_factor', 'Second factor enabled');
  return isFirst ? renewRecoveryCodes(tx, id) : undefined;
}

/**
 * Removes one factor of a user.
 * @param tx a transaction
 * @param key the id of a key; without one, the authenticator
 * @throws ApiError 404; 422 for the last factor of somebody who must have one
 */
export async function removeFactor(tx: Database, user_id: number, key?: number): Promise<void> {
  await hasAny(tx, user_id);
  const removed = await (key === undefined
    ? tx.deleteFrom('totp_factors').where('user_id', '=', user_id).returning('user_id').executeTakeFirst()
    : tx
        .deleteFrom('webauthn_credentials')
        .where('user_id', '=', user_id)
        .where('id', '=', key)
        .returning('user_id')
        .executeTakeFirst());
  if (!removed) throw notFound('Factor');
  const { has_any, grace_hours } = await factorsOf(tx, user_id);
  if (!has_any && grace_hours !== null)
    throw unprocessable('You must have a second factor. Set up another one before you remove this one.');
  if (!has_any) {
    await tx.deleteFrom('recovery_codes').where('user_id', '=', user_id).execute();
    await auditFactors(tx, user_id, 'user_disable_two_factor', 'Second factor disabled');
  }
  await noteChange(tx, user_id, key === undefined ? 'authenticator_removed' : 'webauthn_key_removed');
}

/**
 * Removes all factors of a user who has lost them, and ends their sessions.
 * @param tx a transaction
 * @returns whether they had any
 */
export async function removeAllFactors(tx: Database, user_id: number): Promise<boolean> {
  if (!(await hasAny(tx, user_id))) return false;
  for (const table of ['totp_factors', 'webauthn_credentials', 'recovery_codes'] as const)
    await tx.deleteFrom(table).where('user_id', '=', user_id).execute();
  await endSessions(tx, user_id);
  await noteChange(tx, user_id, 'factors_removed');
  await auditFactors(tx, user_id, 'user_disable_two_factor', 'Second factor disabled');
  return true;
}
