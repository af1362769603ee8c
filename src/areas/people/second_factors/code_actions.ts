/** Taking codes: each counts once, also if it is given twice at the same time (docs/reference/second_factors.md). */
import { sql } from 'kysely';
import { leftAfter, takeBack, tokenDigest, tooManyAttempts } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { conflict, type Services, unprocessable } from '../../../http/index.ts';
import { audit } from '../../instance/audit_events/index.ts';
import { noteChange } from '../account_notices/jobs.ts';
import { factorsOf, totpSecretOf } from './queries.ts';
import { newRecoveryCodes, recoveryCodeIn, stepOfCode } from './rules.ts';

/** Wrong codes of one account, in all browsers together. */
const guesses = { name: 'second_factor_guesses', most: 10, window_s: 600 };

/** Writes that the codes of an account are used up for a while. */
const auditLock = (db: Database, id: number): Promise<void> =>
  db.transaction().execute((tx) =>
    audit(tx, {
      event_name: 'user_access_locked',
      entity: { type: 'User', id },
      details: { custom_message: 'Too many wrong codes' },
    }),
  );

export const wrongCode = () => unprocessable('The code is wrong.');

/**
 * Counts a guess before it is looked at, so that refused ones cost nothing and reveal nothing.
 * @returns takes it back, for a guess that was right
 * @throws ApiError 429
 */
export async function countCode(db: Database, user_id: number): Promise<() => Promise<void>> {
  const bound = { ...guesses, who: `user:${user_id}` };
  const left = await leftAfter(db, bound);
  if (left === -1) await auditLock(db, user_id);
  if (left < 0) throw tooManyAttempts(guesses.window_s);
  return () => takeBack(db, bound);
}

async function takeTotp(services: Services, tx: Database, user_id: number, code: string): Promise<boolean> {
  const known = await totpSecretOf(services, tx, user_id);
  const step = known?.is_enabled ? stepOfCode(known.secret, code) : undefined;
  if (step === undefined) return false;
  const taken = await tx
    .updateTable('totp_factors')
    .set({ last_step: step, last_used_at: sql<string>`now()` })
    .where('user_id', '=', user_id)
    .where((q) => q.or([q('last_step', 'is', null), q('last_step', '<', step)]))
    .returning('user_id')
    .executeTakeFirst();
  return taken !== undefined;
}

async function takeRecoveryCode(tx: Database, user_id: number, text: string): Promise<boolean> {
  const code = recoveryCodeIn(text);
  if (code === undefined) return false;
  const taken = await tx
    .updateTable('recovery_codes')
    .set({ used_at: sql<string>`now()` })
    .where('user_id', '=', user_id)
    .where('digest', '=', tokenDigest(code))
    .where('used_at', 'is', null)
    .returning('user_id')
    .executeTakeFirst();
  return taken !== undefined;
}

/**
 * Takes a code of an authenticator, or a recovery code.
 * @param tx a transaction, which ends without effect if the code is wrong
 * @throws ApiError 422
 */
export async function takeCode(services: Services, tx: Database, user_id: number, code: string): Promise<void> {
  if (!(await takeTotp(services, tx, user_id, code)) && !(await takeRecoveryCode(tx, user_id, code))) throw wrongCode();
}

/**
 * Replaces the recovery codes of a user.
 * @param tx a transaction
 * @returns the new ones, which are stored nowhere
 */
export async function renewRecoveryCodes(tx: Database, user_id: number): Promise<string[]> {
  const codes = newRecoveryCodes();
  await tx.deleteFrom('recovery_codes').where('user_id', '=', user_id).execute();
  await tx
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ user_id, digest: tokenDigest(code) })))
    .execute();
  return codes;
}

/**
 * The same for a user who asks for new ones.
 * @throws ApiError 409 without a second factor
 */
export async function renewCodes(db: Database, user_id: number): Promise<string[]> {
  return db.transaction().execute(async (tx) => {
    if (!(await factorsOf(tx, user_id)).has_any) throw conflict('You have no second factor.');
    await noteChange(tx, user_id, 'recovery_codes_renewed');
    return renewRecoveryCodes(tx, user_id);
  });
}
