/**
 * The recipients still waiting for a notification, and the daily limit of each user
 * (docs/reference/notifications.md#delivery).
 */
import { type Selectable, sql } from 'kysely';
import type { Database, DB } from '../../../db/index.ts';
import type { Recipient } from './recipient_queries.ts';

/** The maximum number of messages to one user about one project or group. */
const maximumInADay = 1000;

/** The maximum number of notifications taken together. */
export const maximumAtOnce = 50;

export type NotificationRow = Selectable<DB['notifications']>;

/**
 * Removes the notifications that have waited longest and have no job of their own, and returns them in order.
 * @param tx the transaction that adds their recipients
 */
export async function takeWaiting(tx: Database): Promise<NotificationRow[]> {
  const { rows } = await sql<NotificationRow>`
    with taken as (
      delete from notifications where id in (
        select id from notifications where not is_alone order by created_at, id limit ${maximumAtOnce} for update skip locked)
      returning *)
    select * from taken order by created_at, id`.execute(tx);
  return rows;
}

/**
 * Adds the recipients of a notification, except for users who have reached the limit for the same project or group.
 * Rows are counted in the order of their users, so that concurrent notifications wait for each other and do not
 * deadlock.
 * @param tx the transaction that adds the job
 * @returns whether there is any recipient
 */
export async function addRecipients(
  tx: Database,
  notification_id: string,
  recipients: readonly Recipient[],
): Promise<boolean> {
  if (recipients.length === 0) return false;
  const isOver = sql`notification_counts.began_at <= now() - interval '1 day'`;
  const { numAffectedRows = 0n } = await sql`
    with given as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(recipients)}::jsonb) as given(user_id bigint, reason text, project_id bigint, group_id bigint)
    ), counted as (
      insert into notification_counts (user_id, project_id, group_id)
      select user_id, project_id, group_id from given order by user_id
      on conflict on constraint notification_counts_key do update
        set began_at = case when ${isOver} then now() else notification_counts.began_at end,
            messages = case when ${isOver} then 1 else notification_counts.messages + 1 end
        where ${isOver} or notification_counts.messages < ${maximumInADay}
      returning user_id
    )
    insert into notification_recipients (notification_id, user_id, reason)
    select ${notification_id}, user_id, reason from given join counted using (user_id)`.execute(tx);
  return numAffectedRows > 0n;
}

/** @param user_ids the recipients to remove; all if omitted */
export async function forgetRecipients(
  db: Database,
  notification_id: string,
  user_ids?: readonly number[],
): Promise<void> {
  const named = user_ids && sql`and user_id = any(${user_ids}::bigint[])`;
  await sql`delete from notification_recipients where notification_id = ${notification_id} ${named ?? sql``}`.execute(
    db,
  );
}

/** Stops notifications to the address until it is confirmed or chosen again. */
export async function markRefused(db: Database, email_id: number | null): Promise<void> {
  await db.updateTable('emails').set({ refused_at: sql`now()` }).where('id', '=', email_id).execute();
}

/** Deletes the recipients of messages that were given up, and the counts of past days. */
export async function removeOld(db: Database): Promise<void> {
  await sql`delete from notification_recipients where created_at < now() - interval '7 days'`.execute(db);
  await sql`delete from notification_counts where began_at < now() - interval '1 day'`.execute(db);
}
