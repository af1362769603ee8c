/** The primary email address of a user: confirming and changing it (docs/reference/emails.md#rules). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { movePrimaryEmail } from './address_actions.ts';
import { noRequest, startClaim } from './claim_actions.ts';
import { confirmEmail, confirmNewPrimary, tellOfPrimaryChange, tellOfPrimaryRequest } from './jobs.ts';

const primaryOf = (tx: Database, user_id: number) =>
  tx.selectFrom('emails').select(['id', 'confirmed_at']).where('user_id', '=', user_id).where('is_primary', '=', true);

/**
 * The state of a new primary address: `confirmed`; `counts`, if it is effective at once without a confirmation; or `unknown`, if it is effective only after
 * its confirmation.
 */
export type Proof = 'confirmed' | 'counts' | 'unknown';

/**
 * Changes the primary address: immediately if the user has confirmed it before, otherwise on confirmation.
 * @param tx a transaction that has locked the user
 * @throws a unique violation of `emails_email_key`, `users_email_key` or `users_unconfirmed_email_key` when another
 * user has the address; ApiError 400 when the user did not confirm it in time
 */
export async function changePrimaryEmail(tx: Database, user_id: number, email: string, proof: Proof): Promise<void> {
  const query = tx.selectFrom('emails').select(['is_primary', 'confirmed_at']).where('email', '=', email);
  const own = await query.where('user_id', '=', user_id).executeTakeFirst();
  if (own?.is_primary) await keepPrimaryEmail(tx, user_id, email, proof === 'confirmed');
  else if (proof === 'confirmed' || own?.confirmed_at) await takePrimaryEmail(tx, user_id, email);
  else if (proof === 'counts') await takePrimaryEmail(tx, user_id, email, false);
  else await requestPrimaryEmail(tx, user_id, email);
}

async function keepPrimaryEmail(tx: Database, user_id: number, email: string, isKnown: boolean): Promise<void> {
  const confirmed = isKnown ? { confirmed_at: sql<string>`coalesce(confirmed_at, now())` } : {};
  await tx
    .updateTable('users')
    .set({ email, ...confirmed })
    .where('id', '=', user_id)
    .execute();
  await movePrimaryEmail(tx, user_id, isKnown);
}

/**
 * Makes an address the primary one. The old one stays with the user if it was confirmed, and a notice is sent to it.
 * @param tx a transaction that has locked the user
 * @param isProved whether the user has confirmed it; otherwise a confirmation link is sent
 * @throws a unique violation as `changePrimaryEmail`
 */
export async function takePrimaryEmail(tx: Database, user_id: number, email: string, isProved = true): Promise<void> {
  const old = await primaryOf(tx, user_id).executeTakeFirstOrThrow();
  const confirmed_at = sql<string>`coalesce((select confirmed_at from emails where email = ${email} and user_id = ${user_id}), now())`;
  await tx
    .updateTable('users')
    .set({ email, confirmed_at, ...noRequest, updated_at: sql`now()` })
    .where('id', '=', user_id)
    .execute();
  await movePrimaryEmail(tx, user_id, isProved);
  if (!isProved) {
    await startClaim(tx, user_id, email);
    await confirmEmail.enqueue(tx, { email_id: (await primaryOf(tx, user_id).executeTakeFirstOrThrow()).id });
  }
  if (old.confirmed_at !== null) await tellOfPrimaryChange.enqueue(tx, { email_id: old.id });
}

async function requestPrimaryEmail(tx: Database, user_id: number, email: string): Promise<void> {
  await startClaim(tx, user_id, email);
  await tx
    .updateTable('users')
    .set({
      unconfirmed_email: email,
      unconfirmed_email_seed: sql`gen_random_uuid()`,
      unconfirmed_email_sent_at: sql`now()`,
    })
    .where('id', '=', user_id)
    .execute();
  await confirmNewPrimary.enqueue(tx, { user_id });
  await tellOfPrimaryRequest.enqueue(tx, { user_id });
}
