/** What a secondary has copied, and how far it has come with the events of the primary. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { type Replicable, replicables } from '../../replicas/index.ts';
import type { Counts, SiteStatus } from './definition.ts';

/** The numbers that only a secondary has. */
export type Copies = Omit<Counts, 'count' | 'checksum_total_count' | 'checksummed_count' | 'checksum_failed_count'>;

const nothing: Copies = {
  registry_count: 0,
  synced_count: 0,
  failed_count: 0,
  oldest_unsynced_time: null,
  verification_total_count: 0,
  verified_count: 0,
  verification_failed_count: 0,
};

/** When the change was made that a copy lacks: its event is deleted after a day. */
const changedAt = sql`coalesce(events.created_at, replicas.created_at)`;
/** Few, and indexed apart from those that are copied. */
const unsynced = sql`
  geo_replicas replicas left join geo_events events on events.id = replicas.event_id where replicas.state <> 'synced'`;

const total = (condition: RawBuilder<unknown>) => sql`coalesce(sum(count) filter (where ${condition}), 0)::bigint`;

export async function copiesHere(db: Database): Promise<Record<Replicable, Copies>> {
  const { rows } = await sql<Copies & { replicable: Replicable }>`
    with numbers as (
      select replicable, state, verification_state = 'verified' as is_verified, verification_state = 'failed' as is_wrong, count(*) as count
        from geo_replicas group by 1, 2, 3, 4
    ), oldest as (
      select replicas.replicable, min(${changedAt}) as oldest_unsynced_time from ${unsynced} group by 1
    )
    select replicable, sum(count)::bigint as registry_count, oldest_unsynced_time,
           ${total(sql`state = 'synced'`)} as synced_count, ${total(sql`state = 'failed'`)} as failed_count,
           ${total(sql`state = 'synced'`)} as verification_total_count, ${total(sql`state = 'synced' and is_verified`)} as verified_count,
           ${total(sql`is_wrong`)} as verification_failed_count
      from numbers left join oldest using (replicable) group by replicable, oldest_unsynced_time`.execute(db);
  const found = new Map(rows.map(({ replicable, ...copies }) => [replicable, copies]));
  return Object.fromEntries(replicables.map((name) => [name, found.get(name) ?? nothing])) as Record<
    Replicable,
    Copies
  >;
}

type Events = Pick<SiteStatus, 'last_event' | 'cursor' | 'events_behind_seconds'>;

/**
 * The copies that an event has made due and that were not tried since. Those that failed, or are damaged, are counted apart and keep no others waiting.
 */
const waiting = sql`
  replicas.state in ('pending', 'started') and replicas.event_id > 0 and retry_count = 0 and verification_state <> 'failed'`;
/** While a copy is being made, `retry_at` is the end of its run. */
const waitingSince = sql`case replicas.state when 'pending' then retry_at else coalesce(events.created_at, retry_at) end`;

const lastEvent = (db: Database, condition = sql`true`) =>
  sql<{
    id: number;
    created_at: string;
  }>`select id, created_at from geo_events where ${condition} order by id desc limit 1`.execute(db);

/** How far this site has come; a primary is where its events are. */
export async function eventsHere(db: Database, isSecondary: boolean): Promise<Events> {
  const last_event = (await lastEvent(db)).rows[0] ?? null;
  if (!isSecondary) return { last_event, cursor: null, events_behind_seconds: null };
  const { rows } = await sql<{ first: number | null; behind: number }>`
    select min(replicas.event_id) as first, coalesce(extract(epoch from now() - min(${waitingSince})), 0)::bigint as behind
      from ${unsynced} and ${waiting}`.execute(db);
  const { first, behind } = rows[0]!;
  const cursor = first === null ? last_event : ((await lastEvent(db, sql`id < ${first}`)).rows[0] ?? null);
  return { last_event, cursor, events_behind_seconds: Math.max(behind, 0) };
}

/** Whether a copy failed, and whether a damaged one is fetched anew; less than the numbers, and known at once. */
export async function failuresHere(db: Database): Promise<{ has_failed: boolean; has_damaged: boolean }> {
  const { rows } = await sql<{ has_failed: boolean; has_damaged: boolean }>`
    select exists (select from geo_replicas where state = 'failed') as has_failed,
           exists (select from geo_replicas where state <> 'synced' and verification_state = 'failed') as has_damaged`.execute(
    db,
  );
  return rows[0]!;
}
