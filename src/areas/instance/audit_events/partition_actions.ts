/** The partitions of audit events: one for each month, made ahead and dropped as a whole (docs/reference/audit_events.md#retention). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

/** How many months of partitions are made ahead. */
const months_ahead = 3;
/** Making and dropping a partition locks all events for a moment; after this wait the job tries again, so that nobody is kept waiting. */
const maximumWait = sql`set local lock_timeout = '500ms'`;

/** Makes the missing partitions of the coming months. Events of this month may be in the default partition already, so it gets none. */
export async function addPartitions(db: Database): Promise<void> {
  const { rows } = await sql<{ name: string; first: string; next: string }>`
    select 'audit_events_' || to_char(month, 'YYYYMM') as name,
           to_char(month, 'YYYY-MM-DD"T00:00Z"') as first, to_char(month + interval '1 month', 'YYYY-MM-DD"T00:00Z"') as next
      from generate_series(1, ${months_ahead}::integer) as ahead, lateral (
             select date_trunc('month', now() at time zone 'UTC') + make_interval(months => ahead) as month) as months
     where to_regclass('audit_events_' || to_char(month, 'YYYYMM')) is null`.execute(db);
  for (const { name, first, next } of rows)
    await db.transaction().execute(async (tx) => {
      await maximumWait.execute(tx);
      await sql`create table if not exists ${sql.table(name)} partition of audit_events for values from (${sql.lit(first)}) to (${sql.lit(next)})`.execute(
        tx,
      );
      await sql`
        create trigger keep_audit_events before truncate on ${sql.table(name)} for each statement execute function keep_audit_events()`.execute(
        tx,
      );
    });
}

/**
 * Drops the partitions of which each event has been kept long enough, and ends the chains that have no event left. The
 * partition of this month stays.
 * @returns the number of dropped partitions
 */
export async function dropOldPartitions(db: Database): Promise<number> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from application_settings, pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'audit_events'::regclass and relname <> 'audit_events_' || to_char(now() at time zone 'UTC', 'YYYYMM')
       and audit_retention_days is not null
     order by relname`.execute(db);
  let dropped = 0;
  for (const { name } of rows)
    await db.transaction().execute(async (tx) => {
      await maximumWait.execute(tx);
      await sql`lock table ${sql.table(name)}`.execute(tx);
      const { rows: old } = await sql`
        select from application_settings, lateral (select max(created_at) as last_at from ${sql.table(name)}) as events
         where last_at < now() - make_interval(days => audit_retention_days)`.execute(tx);
      if (old.length === 0) return;
      await sql`drop table ${sql.table(name)}`.execute(tx);
      if (name === 'audit_events_default') await addDefault(tx);
      await sql`
        update audit_chains set dropped_at = now()
         where dropped_at is null and not exists (select from audit_events where chain = partition and created_at between first_at and last_at)`.execute(
        tx,
      );
      dropped += 1;
    });
  return dropped;
}

async function addDefault(tx: Database): Promise<void> {
  await sql`create table audit_events_default partition of audit_events default`.execute(tx);
  await sql`
    create trigger keep_audit_events before truncate on audit_events_default for each statement execute function keep_audit_events()`.execute(
    tx,
  );
}
