/** The replication progress of a secondary's database. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { ownTables, subscription } from './definition.ts';

/** The tables that all sites share, without their partitions. */
export async function commonTables(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relpersistence = 'p'
       and relname <> all (${ownTables}::text[])
     order by relname`.execute(db);
  return rows.map(({ name }) => name);
}

export const otherInstallation = 'The database belongs to another installation than the primary.';

/** The installation that the database belongs to; undefined while it is empty. */
export async function installationOf(db: Database): Promise<string | undefined> {
  const row = await db.selectFrom('instance').select('uuid').executeTakeFirst();
  return row?.uuid;
}

/** The progress of the subscription. */
export interface Progress {
  enabled: boolean;
  /** The last applied position, an LSN. */
  position: string | null;
  tables: number;
  /** Tables whose rows have been copied, including tables that still catch up with changes made in the meantime. */
  copied: number;
  /** Tables that are not yet in sync with the primary. */
  left: number;
  /** Rows copied so far of the tables being copied. */
  rows: number;
  /** How many times it has failed. */
  errors: number;
}

/**
 * Reads the progress of the subscription. The position is the one up to which the primary has confirmed that everything
 * was sent, which may be later than the last applied change. Without a running worker, and until it reports, the last
 * applied position counts.
 */
export async function progressOf(db: Database): Promise<Progress | undefined> {
  const { rows } = await sql<Progress>`
    select subenabled as enabled,
           greatest(pg_replication_origin_progress('pg_' || subscriptions.oid, false), workers.latest_end_lsn)::text as position,
           relations.tables, relations.copied, relations.left,
           (select coalesce(sum(tuples_processed), 0)::bigint from pg_stat_progress_copy
             where datid = subdbid and relid in (select srrelid from pg_subscription_rel where srsubid = subscriptions.oid and srsubstate = 'd')) as rows,
           coalesce((select apply_error_count + sync_error_count from pg_stat_subscription_stats where subid = subscriptions.oid), 0) as errors
      from pg_subscription subscriptions
      left join pg_stat_subscription workers on workers.subid = subscriptions.oid and workers.relid is null,
           lateral (select count(*)::integer as tables, count(*) filter (where srsubstate not in ('i', 'd'))::integer as copied,
                           count(*) filter (where srsubstate <> 'r')::integer as left
                      from pg_subscription_rel where srsubid = subscriptions.oid) relations
     where subscriptions.subname = ${subscription} and subdbid = (select oid from pg_database where datname = current_database())`.execute(
    db,
  );
  return rows[0];
}

/** The state of a secondary's replication, as shown in its health. */
export interface Following {
  state: 'waiting' | 'copying' | 'following' | 'paused';
  /** Why it is waiting or paused. */
  problem: string | null;
  isCopied: boolean;
  /** The age of the oldest change of the primary that may be missing here; null before the first copy. */
  lag_seconds: number | null;
  /** When the database was last known to be in sync with the primary; null before the first copy. */
  caught_up_at: string | null;
}

/** The interval of polls that find nothing new, which is not reported as a lag. */
const unnoticed_s = 10;

/** Undefined on a server that has never been a secondary. */
export async function followingOf(db: Database): Promise<Following | undefined> {
  const { rows } = await sql<Following>`
    select state, problem, copied_at is not null as "isCopied", caught_up_at,
           case when late > ${unnoticed_s} then late when copied_at is not null then 0 end as lag_seconds
      from geo_following, lateral (select extract(epoch from now() - caught_up_at)::float8 as late) as age`.execute(db);
  return rows[0];
}
