/** Adding and deleting email addresses other than the primary one (docs/reference/emails.md). */
import { sql } from 'kysely';
import { type Database, isUniqueViolation, repeated } from '../../../db/index.ts';
import { badRequest, checkUnmodified, found, invalid } from '../../../http/index.ts';
import { recordConfirmation } from './address_actions.ts';
import { isExpired, isTaken, startClaim } from './claim_actions.ts';
import { confirmEmail, tellOfNewEmail } from './jobs.ts';
import { emailColumns } from './present.ts';

/**
 * Locks a user, so that changes of their addresses are serialized. Every change of addresses locks the user first,
 * because another order could cause deadlocks.
 * @throws ApiError 404
 */
export async function lockUser(tx: Database, user_id: number): Promise<void> {
  found(
    'User',
    await tx.selectFrom('users').select('id').where('id', '=', user_id).forNoKeyUpdate().executeTakeFirst(),
  );
}

const taken = () => invalid({ email: ['has already been taken'] });

/**
 * Sends another confirmation link to an already confirmed address to which delivery has failed, once for each failure
 * or after the last link has expired.
 * @returns the columns of `Email`; undefined for all other addresses
 */
async function confirmAnew(tx: Database, user_id: number, email: string) {
  const refused = await tx
    .updateTable('emails')
    .set({ seed: sql<string>`gen_random_uuid()`, confirmation_sent_at: sql<string>`now()` })
    .where('user_id', '=', user_id)
    .where('email', '=', email)
    .where('confirmed_at', 'is not', null)
    .where(
      sql<boolean>`refused_at is not null and (refused_at > confirmation_sent_at or ${isExpired('confirmation_sent_at')})`,
    )
    .returning(emailColumns)
    .executeTakeFirst();
  if (refused) await confirmEmail.enqueue(tx, { email_id: refused.id });
  return refused;
}

/**
 * Adds an address to a user. An existing address to which delivery has failed can be confirmed again.
 * @param email the address in stored form
 * @param isKnown whether the address is confirmed at once; otherwise a confirmation link is sent
 * @returns the columns of `Email`
 * @throws ApiError 404 for the user, 400 for an address that is already taken, or that they did not confirm in time
 */
export async function addEmail(db: Database, user_id: number, email: string, isKnown: boolean) {
  try {
    return await repeated(db, async (tx) => {
      await lockUser(tx, user_id);
      const refused = isKnown ? undefined : await confirmAnew(tx, user_id, email);
      if (refused) return refused;
      const { rows } = await sql<{ taken: boolean }>`select ${isTaken(email, user_id)} as taken`.execute(tx);
      if (rows[0]!.taken) throw taken();
      const added = await tx
        .insertInto('emails')
        .values({ user_id, email, confirmed_at: isKnown ? sql<string>`now()` : null })
        .returning(emailColumns)
        .executeTakeFirstOrThrow();
      if (isKnown) await recordConfirmation(tx, added.id);
      else {
        await startClaim(tx, user_id, email);
        await confirmEmail.enqueue(tx, { email_id: added.id });
      }
      await tellOfNewEmail.enqueue(tx, { email_id: added.id });
      return added;
    });
  } catch (error) {
    throw isUniqueViolation(error, 'emails_email_key') ? taken() : error;
  }
}

/**
 * Deletes an address. If it was the public or commit address, that setting is cleared.
 * @param unmodified_since the caller's `If-Unmodified-Since`
 * @throws ApiError 404, 400 for the primary address, 412
 */
export async function removeEmail(
  db: Database,
  user_id: number,
  email_id: number,
  unmodified_since: Date | undefined,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockUser(tx, user_id);
    const rows = tx.selectFrom('emails').select(['email', 'is_primary', 'updated_at']).where('id', '=', email_id);
    const { email, is_primary, updated_at } = found(
      'Email',
      await rows.where('user_id', '=', user_id).executeTakeFirst(),
    );
    if (is_primary) throw badRequest('Cannot delete primary email');
    checkUnmodified(updated_at, unmodified_since);
    await tx.deleteFrom('emails').where('id', '=', email_id).execute();
    await tx
      .updateTable('users')
      .set({
        public_email: sql<string>`case when public_email = ${email} then '' else public_email end`,
        commit_email: sql<string | null>`nullif(commit_email, ${email})`,
        updated_at: sql`now()`,
      })
      .where('id', '=', user_id)
      .where((q) => q.or([q('public_email', '=', email), q('commit_email', '=', email)]))
      .execute();
  });
}
