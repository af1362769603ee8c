/** Subscriptions to issuables. */
import { sql } from 'kysely';
import type { Issuable } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { isSubscribed } from './queries.ts';

/**
 * Stores a user's explicit subscription or unsubscription.
 * @returns whether this has an effect, given earlier decisions and participation
 */
export async function setSubscription(
  tx: Database,
  { kind, id }: Issuable,
  user_id: number,
  subscribed: boolean,
): Promise<boolean> {
  const { rows } = await sql`
    insert into subscriptions as known (user_id, ${sql.ref(kind.column)}, subscribed)
    select ${user_id}, id, ${subscribed}::boolean from ${sql.table(kind.table)}
     where id = ${id} and ${isSubscribed(kind, user_id)} <> ${subscribed}
    on conflict on constraint subscriptions_key do update set subscribed = excluded.subscribed
    returning known.id`.execute(tx);
  return rows.length > 0;
}
