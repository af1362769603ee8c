/** Who is told of what happens to an issue. */
import { type SqlBool, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { isSubscribed } from './queries.ts';

/**
 * Keeps what a user has decided for himself.
 * @returns whether it is another than it was, be it by decision or because he takes part
 */
export async function setSubscription(tx: Database, user_id: number, issue_id: number, subscribed: boolean): Promise<boolean> {
  const { rows } = await sql<{ changed: SqlBool }>`
    insert into subscriptions as known (user_id, issue_id, subscribed)
    select ${user_id}, issues.id, ${subscribed}::boolean from issues where issues.id = ${issue_id} and ${isSubscribed(user_id)} <> ${subscribed}
    on conflict on constraint subscriptions_key do update set subscribed = excluded.subscribed
    returning true as changed`.execute(tx);
  return rows.length > 0;
}
