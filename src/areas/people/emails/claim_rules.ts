/** Claims: email addresses that are not confirmed yet. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { confirmation_days } from './rules.ts';

/** A predicate: the confirmation link has expired, and the claim may be deleted. */
export const isExpired = (sent_at: 'confirmation_sent_at' | 'unconfirmed_email_sent_at'): RawBuilder<boolean> =>
  sql`${sql.ref(sent_at)} < now() - make_interval(days => ${sql.lit(confirmation_days)})`;

/** The columns of a user without a pending change of the primary address. */
export const noRequest = { unconfirmed_email: null, unconfirmed_email_seed: null, unconfirmed_email_sent_at: null };

/**
 * Deletes claims of other users to an address whose owner is now known. Otherwise a claim could keep the owner from using it.
 * @param tx a transaction in which a user makes it their primary address
 * @param user_id ID of the user, null before it exists
 */
export async function endClaims(tx: Database, email: string, user_id: number | null): Promise<void> {
  await tx
    .deleteFrom('emails')
    .where('email', '=', email)
    .where('confirmed_at', 'is', null)
    .where('is_primary', '=', false)
    .where(sql<boolean>`user_id is distinct from ${user_id}::bigint`)
    .execute();
}
