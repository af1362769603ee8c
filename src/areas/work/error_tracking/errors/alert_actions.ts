/** Alerts for errors with more events or users within some minutes than the settings of their project allow. */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../../db/index.ts';

/** The users of an error are counted in this many of its latest events. */
const maximumRead = 10_000;

/**
 * Finds the errors to alert their projects about, and records the alerts: each error causes at most one alert in the project's interval.
 * @param tx the transaction that groups the events
 * @param ids errors with new events; ignored errors are skipped
 */
export async function alertedErrors(
  tx: Database,
  ids: readonly number[],
): Promise<{ id: number; project_id: number }[]> {
  const { rows } = await sql<{ id: number; project_id: number }>`
    with touched as materialized (
      select errors.id, errors.project_id, alert_events, alert_users, errors.last_seen_at as until,
             errors.last_seen_at - make_interval(mins => alert_minutes) as since
        from error_tracking_errors errors join error_tracking_settings settings using (project_id)
        left join error_tracking_alerts alerts on alerts.error_id = errors.id
       where errors.id = any(${ofAnyLength(ids, 'bigint[]')}) and errors.status <> 'ignored'
         and (errors.events_count >= alert_events or errors.users_count >= alert_users)
         and (alerts.alerted_at is null or alerts.alerted_at <= errors.last_seen_at - make_interval(mins => alert_minutes))
    ), due as (
      select * from touched
       where (alert_events is not null and alert_events = (
               select count(*) from (
                 select from error_tracking_events events where events.error_id = touched.id and occurred_at > since
                    and received_at > since - interval '2 minutes' limit alert_events) counted))
          or (alert_users is not null and alert_users <= (
               select count(distinct user_hash) from (
                 select user_hash from error_tracking_events events where events.error_id = touched.id and occurred_at > since
                    and received_at > since - interval '2 minutes' order by occurred_at desc limit ${maximumRead}) counted))
    ), noted as (
      insert into error_tracking_alerts as alerts (error_id, alerted_at) select id, until from due order by id
      on conflict (error_id) do update set alerted_at = excluded.alerted_at
    )
    select id, project_id from due`.execute(tx);
  return rows;
}
