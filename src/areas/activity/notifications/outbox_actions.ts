/**
 * The outbox: notifications whose recipients have not been determined yet, written in the transaction of the change.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

export interface Notification {
  event: string;
  target_type: string;
  target_id: number;
  /** The user who performed the action, who is not notified; null if there is none. */
  actor_id: number | null;
  /** Users who were added or removed, or who are affected by the event. */
  user_ids: readonly number[];
}

/**
 * The part of a statement that adds notifications to the outbox.
 * @param rows a select of event, target_type, target_id, actor_id and user_ids
 */
export const notifying = (rows: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  notified as (
    insert into notifications (event, target_type, target_id, actor_id, user_ids)
    select event, target_type, target_id, actor_id, user_ids from (${rows}) news)`;

/** @param tx the transaction of the change */
export async function addNotification(tx: Database, notification: Notification): Promise<void> {
  const { event, target_type, target_id, actor_id, user_ids } = notification;
  await sql`with ${notifying(sql`
    select ${event}::text as event, ${target_type}::text as target_type, ${target_id}::bigint as target_id, ${actor_id}::bigint as actor_id,
           ${user_ids}::bigint[] as user_ids`)} select`.execute(tx);
}
