/** The second step of signing in, and proving oneself again in a session (docs/reference/sessions.md#signing-in). */
import { sql } from 'kysely';
import { type Device, refuseTooOften, tokenDigest, type Visitor } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError, type Services } from '../../../http/index.ts';
import { confirmSession } from '../sessions/actions.ts';
import { auditRefusedFactor, auditSignIn } from '../sessions/audit_actions.ts';
import { begin, finishSignIn, type Going, pending_minutes, type SignedIn } from '../sessions/sign_in_actions.ts';
import { countCode, takeCode } from './code_actions.ts';
import { factorsOf } from './queries.ts';
import { refusedKey, takeAssertion } from './webauthn_actions.ts';

/** A sign-in that waits for the second factor. */
export interface PendingSignIn extends Going {
  id: number;
  user_id: number;
  methods: string[];
  is_remembered: boolean;
}

/** A second factor as it was given: a code, or the answer of a key. */
export type GivenFactor = { code: string } | { assertion: string };

/** The sign-in that a cookie names, while it waits. */
export async function pendingSignIn(db: Database, cookie: string | undefined): Promise<PendingSignIn | undefined> {
  if (cookie === undefined) return undefined;
  const { rows } = await sql<PendingSignIn>`
    select pending_sign_ins.id, user_id, methods, is_remembered, going_to as to, kept
      from pending_sign_ins join users on users.id = user_id
     where digest = ${tokenDigest(cookie)} and state in ('active', 'deactivated')
       and pending_sign_ins.created_at > now() - make_interval(mins => ${sql.lit(pending_minutes)})`.execute(db);
  return rows[0];
}

/** Whether somebody has keys, which a page then asks for. */
export const hasKeys = async (db: Database, user_id: number): Promise<boolean> =>
  (await factorsOf(db, user_id)).keys.some(({ disabled_at }) => disabled_at === null);

/**
 * Takes a second factor of a user, which counts once.
 * @param tx a transaction
 * @returns the method that was proved, as in `amr` of RFC 8176; undefined for a key that has just been disabled
 * @throws ApiError 422 for a wrong one
 */
async function takeFactor(
  services: Services,
  tx: Database,
  user_id: number,
  given: GivenFactor,
  device: Device,
): Promise<string | undefined> {
  if ('code' in given) {
    await takeCode(services, tx, user_id, given.code);
    return 'otp';
  }
  const asked = { answer: given.assertion, device, purpose: 'second factor', user_id } as const;
  return (await takeAssertion(services, tx, asked)) === undefined ? undefined : 'hwk';
}

const over = () => new ApiError(410, { message: 'The sign-in has taken too long. Begin again.' });

/**
 * Finishes a sign-in by the second factor: the session begins, and the factor is used up, in one transaction.
 * @throws ApiError 410 for a sign-in that no longer waits, 422 for a wrong factor, 429 after ten wrong ones
 */
export async function finishBySecondFactor(
  services: Services,
  pending: PendingSignIn,
  given: GivenFactor,
  device: Device,
): Promise<SignedIn> {
  const { id, user_id, methods, is_remembered } = pending;
  const takeBack = await countCode(services.db, user_id);
  const kind = 'code' in given ? 'otp' : 'webauthn';
  const finishing = services.db.transaction().execute(async (tx) => {
    const method = await takeFactor(services, tx, user_id, given, device);
    if (method === undefined) return undefined;
    const ended = await tx.deleteFrom('pending_sign_ins').where('id', '=', id).returning('id').executeTakeFirst();
    if (!ended) throw over();
    await auditSignIn(tx, { user_id, methods: [method], address: device.address });
    return begin(services, tx, { user_id, methods: [...methods, method], is_remembered, device });
  });
  const signedIn = await finishing.catch(async (error: unknown) => {
    if (error instanceof ApiError && error.status === 422)
      await auditRefusedFactor(services.db, { user_id, kind, address: device.address });
    throw error;
  });
  if (!signedIn) {
    await auditRefusedFactor(services.db, { user_id, kind, address: device.address });
    throw refusedKey();
  }
  await takeBack();
  return signedIn;
}

/** Attempts to sign in by a passkey from one address. */
const attempts = { name: 'passkeys_from_address', most: 50, window_s: 600 };

/**
 * Signs in by a passkey, which is both factors at once.
 * @throws ApiError 422 for one that is not right, 403 for a user who is not active, 429
 */
export async function signInByPasskey(
  services: Services,
  assertion: string,
  { device, is_remembered }: { device: Device; is_remembered: boolean },
): Promise<SignedIn> {
  await refuseTooOften(services.db, { ...attempts, who: device.address });
  const asked = { answer: assertion, device, purpose: 'passkey' } as const;
  const user_id = await services.db.transaction().execute((tx) => takeAssertion(services, tx, asked));
  if (user_id === undefined) throw refusedKey();
  return finishSignIn(services, { user_id, methods: ['hwk', 'user'], is_strong: true, is_remembered, device });
}

/**
 * Proves again who a visitor is, by a second factor.
 * @returns the `Set-Cookie` of the session
 * @throws ApiError 422, 429
 */
export async function confirmByFactor(
  services: Services,
  visitor: Visitor,
  given: GivenFactor,
  device: Device,
): Promise<string> {
  const takeBack = await countCode(services.db, visitor.id);
  const method = await services.db.transaction().execute((tx) => takeFactor(services, tx, visitor.id, given, device));
  if (method === undefined) throw refusedKey();
  await takeBack();
  return confirmSession(services, visitor);
}
