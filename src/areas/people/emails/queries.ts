/** Queries for email addresses. */
import type { Database } from '../../../db/index.ts';

/**
 * The confirmed addresses of a user, including the primary one.
 * @param db within a transaction, the transaction, to see its changes
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
