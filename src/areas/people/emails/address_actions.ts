/** Rows of `emails`: every address of a user, including the primary one (docs/decisions/0020-one-table-for-all-addresses.md). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { acceptInvitationsTo } from './jobs.ts';

/**
 * Handles the confirmation of an address: notifications are sent to it again, and a job accepts the invitations to it.
 * The job uses transactions of its own, because a membership locks a whole tree of groups, which must not wait for the
 * transaction that changes a user.
 * @param tx the transaction that confirms the address
 * @param email_id ID of an address; nothing happens when it is not confirmed
 */
export async function recordConfirmation(tx: Database, email_id: number): Promise<void> {
  await sql`
    delete from claimed_emails
     using emails
     where emails.id = ${email_id} and emails.confirmed_at is not null
       and claimed_emails.user_id = emails.user_id and claimed_emails.email = emails.email`.execute(tx);
  await tx
    .updateTable('emails')
    .set({ refused_at: null })
    .where('id', '=', email_id)
    .where('confirmed_at', 'is not', null)
    .where('refused_at', 'is not', null)
    .execute();
  const confirmed = await tx
    .selectFrom('emails')
    .select('id')
    .where('id', '=', email_id)
    .where('confirmed_at', 'is not', null)
    .executeTakeFirst();
  if (confirmed) await acceptInvitationsTo.enqueue(tx, { email_id });
}

/**
 * Claims the primary address of a user who was just created.
 * @param tx the transaction that creates the user
 * @param isProved whether a confirmed user has also confirmed the address
 * @returns the ID of the address
 * @throws a unique violation of `emails_email_key` when another user claims the address
 */
export async function claimPrimaryEmail(tx: Database, user_id: number, isProved = true): Promise<number> {
  const { id } = await tx
    .insertInto('emails')
    .columns(['user_id', 'email', 'is_primary', 'confirmed_at'])
    .expression((q) =>
      q
        .selectFrom('users')
        .select(['users.id', 'users.email', sql<boolean>`true`.as('is_primary')])
        .select(sql<string | null>`case when ${isProved} then users.confirmed_at end`.as('confirmed_at'))
        .where('users.id', '=', user_id),
    )
    .returning('id')
    .executeTakeFirstOrThrow();
  await recordConfirmation(tx, id);
  return id;
}

/**
 * Updates `emails` after a change of the primary address. The previous one stays with the user if it was confirmed; an address that the user already has keeps its
 * row.
 * @param isProved as for `claimPrimaryEmail`
 * @param tx the transaction that has changed `users.email` or `users.confirmed_at`
 * @throws a unique violation of `emails_email_key` when another user claims the address
 */
export async function movePrimaryEmail(tx: Database, user_id: number, isProved = true): Promise<void> {
  const isPrevious = sql<boolean>`emails.user_id = ${user_id} and is_primary and emails.email <> (select email from users where id = ${user_id})`;
  await tx.deleteFrom('emails').where(isPrevious).where('confirmed_at', 'is', null).execute();
  await tx.updateTable('emails').set({ is_primary: false, updated_at: sql`now()` }).where(isPrevious).execute();
  const own = await tx
    .updateTable('emails')
    .from('users')
    .set((q) => ({
      email: q.ref('users.email'),
      is_primary: true,
      confirmed_at: q.ref(isProved ? 'users.confirmed_at' : 'emails.confirmed_at'),
      updated_at: sql`now()`,
    }))
    .where('users.id', '=', user_id)
    .whereRef('emails.user_id', '=', 'users.id')
    .whereRef('emails.email', '=', 'users.email')
    .returning('emails.id')
    .executeTakeFirst();
  if (own) await recordConfirmation(tx, own.id);
  else await claimPrimaryEmail(tx, user_id, isProved);
}
