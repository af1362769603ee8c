/** Retention of errors: events are dropped by day of receipt (as partitions), everything else is deleted in batches. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';

/** How many days of partitions are created ahead: if the job does not run for longer, events can no longer be dropped by day. */
const daysAhead = 7;
/** Creating and dropping a partition locks all events for a moment; after this wait it is retried later, so that senders are not blocked for longer. */
const maximumWait = sql`set local lock_timeout = '500ms'`;

const cutoff = sql`now() - make_interval(days => (select error_tracking_retention_days from application_settings))`;

/**
 * Creates the missing partitions of the coming days, but not of today: today's events may be in the default partition already, which works as well, except that it has to be
 * emptied row by row.
 */
export async function addPartitions(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string; first: string; next: string }>`
    select 'error_tracking_events_' || to_char(day, 'YYYYMMDD') as name,
           to_char(day, 'YYYY-MM-DD"T00:00Z"') as first, to_char(day + interval '1 day', 'YYYY-MM-DD"T00:00Z"') as next
      from generate_series(1, ${daysAhead}::integer) as ahead, lateral (
             select date_trunc('day', now() at time zone 'UTC') + make_interval(days => ahead) as day) as days
     where to_regclass('error_tracking_events_' || to_char(day, 'YYYYMMDD')) is null`.execute(db);
  if (rows.length === 0) return;
  await excludeFromDefault(db, rows[0]!.first, rows.at(-1)!.next);
  for (const { name, first, next } of rows)
    await db.transaction().execute(async (tx) => {
      await maximumWait.execute(tx);
      await sql`create table if not exists ${sql.table(name)} partition of error_tracking_events
                   for values from (${sql.lit(first)}) to (${sql.lit(next)})`.execute(tx);
    });
  await db.transaction().execute(async (tx) => {
    await maximumWait.execute(tx);
    await dropExclusion.execute(tx);
  });
}

const exclusion = sql.ref('error_tracking_events_default_excludes_new_partitions');
const dropExclusion = sql`alter table error_tracking_events_default drop constraint if exists ${exclusion}`;

/**
 * Adds a constraint that the default partition has no events of some days. Without it, PostgreSQL scans the whole default partition for each new partition while senders are
 * blocked, and after a restore it contains everything; validating the constraint scans it once without blocking them.
 */
async function excludeFromDefault(db: Database, first: string, next: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await maximumWait.execute(tx);
    await dropExclusion.execute(tx);
    await sql`alter table error_tracking_events_default add constraint ${exclusion}
                check (received_at < ${sql.lit(first)}::timestamptz or received_at >= ${sql.lit(next)}::timestamptz) not valid`.execute(
      tx,
    );
  });
  await db.transaction().execute(async (tx) => {
    await sql`set local statement_timeout = 0`.execute(tx);
    await sql`alter table error_tracking_events_default validate constraint ${exclusion}`.execute(tx);
  });
}

/** Drops the partitions that contain only expired events. @returns their number */
export async function dropOldPartitions(db: Database): Promise<number> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'error_tracking_events'::regclass and relname ~ '_[0-9]{8}$'
       and to_date(right(relname, 8), 'YYYYMMDD') + 1 <= (${cutoff}) at time zone 'UTC'
     order by relname`.execute(db);
  for (const { name } of rows)
    await db.transaction().execute(async (tx) => {
      await maximumWait.execute(tx);
      await sql`drop table ${sql.table(name)}`.execute(tx);
    });
  return rows.length;
}

/** Each statement deletes one batch. A row that is updated meanwhile is kept, because its time is compared again. */
const batches: readonly RawBuilder<unknown>[] = [
  sql`delete from error_tracking_events_default where received_at < ${cutoff} and (received_at, id) in (
        select received_at, id from error_tracking_events_default where received_at < ${cutoff} order by received_at limit 1000)`,
  sql`delete from error_tracking_errors where last_seen_at < ${cutoff} and id in (
        select id from error_tracking_errors where last_seen_at < ${cutoff} order by last_seen_at limit 500)`,
  sql`delete from error_tracking_error_hours where hour < ${cutoff} and (error_id, hour) in (
        select error_id, hour from error_tracking_error_hours where hour < ${cutoff} order by hour limit 5000)`,
  sql`delete from error_tracking_rates where minute < now() - interval '1 hour' and (project_id, minute) in (
        select project_id, minute from error_tracking_rates where minute < now() - interval '1 hour' order by minute limit 5000)`,
  sql`delete from error_tracking_sessions where updated_at < now() - interval '7 days' and (release_id, session_id) in (
        select release_id, session_id from error_tracking_sessions where updated_at < now() - interval '7 days' order by updated_at limit 5000)`,
  sql`delete from error_tracking_release_hours where hour < ${cutoff} and (release_id, hour) in (
        select release_id, hour from error_tracking_release_hours where hour < ${cutoff} order by hour limit 5000)`,
  sql`with gone as (
        delete from error_tracking_release_users where seen_at < ${cutoff} and (release_id, user_hash) in (
          select release_id, user_hash from error_tracking_release_users where seen_at < ${cutoff} order by seen_at limit 5000)
        returning release_id
      )
      update error_tracking_releases releases set users_count = users_count - gone.count
        from (select release_id, count(*) as count from gone group by release_id) as gone where releases.id = gone.release_id`,
  sql`delete from error_tracking_releases where last_seen_at < ${cutoff} and id in (
        select id from error_tracking_releases where last_seen_at < ${cutoff} order by last_seen_at limit 500)`,
  sql`delete from error_tracking_versions where used_at < ${cutoff} and id in (
        select id from error_tracking_versions where used_at < ${cutoff} order by used_at limit 100)`,
  sql`delete from error_tracking_source_maps where used_at < ${cutoff} and id in (
        select id from error_tracking_source_maps where used_at < ${cutoff} order by used_at limit 500)`,
  sql`delete from error_tracking_bundles where id in (
        select id from error_tracking_bundles bundles
         where created_at < now() - interval '1 day' and not exists (select from error_tracking_source_maps where bundle_id = bundles.id)
         order by created_at limit 500)`,
  sql`delete from error_tracking_chunks where created_at < now() - interval '1 day' and (user_id, checksum) in (
        select user_id, checksum from error_tracking_chunks where created_at < now() - interval '1 day' order by created_at limit 500)`,
];

/**
 * Deletes data older than the retention period.
 * @param signal stops the work between two statements
 */
export async function removeOldErrors(db: Database, signal: AbortSignal): Promise<void> {
  for (const batch of batches)
    for (let count = 1n; count > 0n; ) {
      signal.throwIfAborted();
      const { numAffectedRows = 0n } = await batch.execute(db);
      count = numAffectedRows;
    }
}
