/** Who is told of what happens to an epic. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { isSubscribedToEpic } from './queries.ts';

/**
 * Keeps what a user has decided for himself.
 * @returns whether it is another than it was, be it by decision or because he takes part
 */
export async function setEpicSubscription(tx: Database, user_id: number, epic_id: number, subscribed: boolean): Promise<boolean> {
  const { rows } = await sql`
    insert into subscriptions as known (user_id, epic_id, subscribed)
    select ${user_id}, epics.id, ${subscribed}::boolean from epics where epics.id = ${epic_id} and ${isSubscribedToEpic(user_id)} <> ${subscribed}
    on conflict on constraint subscriptions_key do update set subscribed = excluded.subscribed
    returning id`.execute(tx);
  return rows.length > 0;
}
