/** Addresses that somebody claims and nobody has confirmed yet. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { confirmation_days } from './rules.ts';

/** A predicate: the link was sent too long ago, so that it confirms nothing any more and the claim may end. */
export const isExpired = (sent_at: 'confirmation_sent_at' | 'unconfirmed_email_sent_at'): RawBuilder<boolean> =>
  sql`${sql.ref(sent_at)} < now() - make_interval(days => ${sql.lit(confirmation_days)})`;

/** The columns of a user who asks for no other primary address. */
export const noRequest = { unconfirmed_email: null, unconfirmed_email_seed: null, unconfirmed_email_sent_at: null };

/**
 * Ends what others have merely claimed of an address, because somebody has shown that he reads it. Otherwise whoever claims it could keep him out.
 * @param tx a transaction in which somebody makes it his primary address
 * @param user_id his id, null before he has one
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
