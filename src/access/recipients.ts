/** The recipients of mail to users. */
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';

/** The recipient of a message, in the form of `Mail`. */
export interface Recipient {
  name: string;
  address: string;
}

/**
 * The confirmed address for mail to a user.
 * @param preferred the address that the user prefers for such mail; if it is no longer theirs, the primary one is used
 * @returns undefined for users who get no mail: inactive ones, those without a confirmed primary address, and users who are not people
 */
export async function recipientFor(db: Database, user_id: number, preferred?: string): Promise<Recipient | undefined> {
  return db
    .selectFrom('users')
    .innerJoin('emails', 'emails.user_id', 'users.id')
    .select(['users.name', 'emails.email as address'])
    .where('users.id', '=', user_id)
    .where('users.state', '=', 'active')
    .where('users.user_type', '=', 'human')
    .where('users.confirmed_at', 'is not', null)
    .where('emails.confirmed_at', 'is not', null)
    .where((q) => q.or([q('emails.is_primary', '=', true), q('emails.email', '=', preferred ?? null)]))
    .orderBy(sql<boolean>`emails.email is not distinct from ${preferred ?? null}::citext`, 'desc')
    .limit(1)
    .executeTakeFirst();
}
