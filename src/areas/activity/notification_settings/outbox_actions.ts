/** Notifications that wait for their job, written in the transaction of what they tell of. */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { queueOf } from '../../../jobs/index.ts';

const retries = 10;

/** The job that finds the recipients. The area of the nouns that can be told of runs it. */
export const notify = queueOf('notify', { input: { id: Type.String() }, retries });

export interface Notification {
  event: string;
  target_type: string;
  target_id: number;
  /** The user who did it, and is not told; null when nobody did anything. */
  actor_id: number | null;
  /** Those who were added or removed, or whom it concerns. */
  user_ids: readonly number[];
}

/**
 * The part of a statement that leaves notifications. A job is added while its row is inserted: a select that nothing reads would not be executed.
 * @param rows a select of event, target_type, target_id, actor_id and user_ids
 */
export const notifying = (rows: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  noticed as materialized (select gen_random_uuid() as id, news.* from (${rows}) news),
  notified as (
    insert into notifications (id, event, target_type, target_id, actor_id, user_ids, job_id)
    select id, event, target_type, target_id, actor_id, user_ids,
           (graphile_worker.add_job('notify', json_build_object('id', id), max_attempts => ${retries + 1}::int)).id
      from noticed)`;

/** @param tx the transaction of what it tells of */
export async function addNotification(tx: Database, notification: Notification): Promise<void> {
  const { event, target_type, target_id, actor_id, user_ids } = notification;
  await sql`with ${notifying(sql`
    select ${event}::text as event, ${target_type}::text as target_type, ${target_id}::bigint as target_id, ${actor_id}::bigint as actor_id,
           ${user_ids}::bigint[] as user_ids`)} select`.execute(tx);
}
