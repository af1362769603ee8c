/** Whose addresses are whose: what is confirmed, and where mail to a user goes. */
import { sql } from 'kysely';
import type { Database } from '../db/index.ts';

/**
 * The addresses that are known to be the user's, the primary one among them.
 * @param db inside a transaction one that sees its changes
 */
export async function confirmedAddresses(db: Database, user_id: number): Promise<string[]> {
  const rows = await db
    .selectFrom('emails')
    .select('email')
    .where('user_id', '=', user_id)
    .where('confirmed_at', 'is not', null)
    .execute();
  return rows.map(({ email }) => email);
}

/** Where mail to a user goes, as `Mail` has it. */
export interface Recipient {
  name: string;
  address: string;
}

/**
 * Where mail to a user goes: to an address that he has confirmed.
 * @param preferred the address that he chose for such mail; when it is no longer his, the primary one has its place
 * @returns undefined for users who get no mail: who are not active, have confirmed no primary address, or are no people
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
