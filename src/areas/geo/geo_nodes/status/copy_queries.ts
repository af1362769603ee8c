/** What a secondary has copied, and how many events of the primary it has processed. */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { type Replicable, replicables } from '../../replicas/definition.ts';
import type { Counts, SiteStatus } from './definition.ts';

/** The counts that only a secondary has. */
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

/** When the missing change was made: its event is deleted after a day, so the replica's own time is the fallback. */
const changedAt = sql`coalesce(events.created_at, replicas.created_at)`;
/** Unsynced copies are few, and have an index apart from the synced ones. */
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
 * Copies that an event has made due and that were not tried since. Failed and damaged ones are counted apart, and delay
 * no others.
 */
const waiting = sql`
  replicas.state in ('pending', 'started') and replicas.event_id > 0 and retry_count = 0 and verification_state <> 'failed'`;
/** While a copy is in progress, `retry_at` is the end of its lease. */
const waitingSince = sql`case replicas.state when 'pending' then retry_at else coalesce(events.created_at, retry_at) end`;

const lastEvent = (db: Database, condition = sql`true`) =>
  sql<{
    id: number;
    created_at: string;
  }>`select id, created_at from geo_events where ${condition} order by id desc limit 1`.execute(db);

/** The event position of this site; for a primary, its last event. */
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

/**
 * Whether a copy failed, and whether a damaged one is being fetched again; fewer facts than the counts, but immediately
 * available.
 */
export async function failuresHere(db: Database): Promise<{ has_failed: boolean; has_damaged: boolean }> {
  const { rows } = await sql<{ has_failed: boolean; has_damaged: boolean }>`
    select exists (select from geo_replicas where state = 'failed') as has_failed,
           exists (select from geo_replicas where state <> 'synced' and verification_state = 'failed') as has_damaged`.execute(
    db,
  );
  return rows[0]!;
}
