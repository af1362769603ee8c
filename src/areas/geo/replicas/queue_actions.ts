/**
 * The queue of due copies: claiming one, and recording the outcome. A run is considered dead when its lease has
 * expired.
 */
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { whileOurs } from '../../../jobs/index.ts';
import type { Part, ReplicableRecord } from './definition.ts';
import { pauseAfter } from './rules.ts';

/** A claimed copy. */
export interface StartedReplica extends ReplicableRecord {
  /** The last event when the run started: a later one makes the copy due again. */
  event_id: number;
  /** How many times in a row it has failed. */
  retry_count: number;
  /** Whether the copy is damaged, so that it must be fetched completely. */
  is_damaged: boolean;
  /** Whether it was copied before. */
  has_copy: boolean;
}

/** The result of copying, which matched the checksum of the primary. */
export interface Copied {
  checksum: string;
  size_bytes: number | null;
}

const lease = sql`interval '30 seconds'`;
const confirmed_every_ms = 10_000;
/** The number of due copies searched for one whose checksum the primary has computed. */
const candidates = 200;

/**
 * Claims the copy that has waited longest. If two workers claim the same row, one gets it and the other gets nothing.
 * @param isRetry whether to take one that has failed before
 */
export async function takeDue(db: Database, part: Part, isRetry: boolean): Promise<StartedReplica | undefined> {
  const { rows } = await sql<StartedReplica>`
    with due as (
      select replicable, record, event_id, retry_at from geo_replicas
       where part = ${part} and is_retry = ${isRetry} and state <> 'synced' and retry_at <= now()
       order by retry_at, replicable, record limit ${candidates}
    ), ready as (
      select due.* from due left join geo_checksums there using (replicable, record)
       where there.record is null or (there.checked_at is not null and there.event_id >= due.event_id)
       order by retry_at, replicable, record limit 1
    )
    update geo_replicas replicas set state = 'started', retry_at = now() + ${lease}
      from ready
     where replicas.replicable = ready.replicable and replicas.record = ready.record and replicas.state <> 'synced' and replicas.retry_at = ready.retry_at
    returning replicas.replicable, replicas.record, replicas.event_id, retry_count, verification_state = 'failed' as is_damaged, checksum is not null as has_copy`.execute(
    db,
  );
  return rows[0];
}

/** Copies one item, renewing its lease while it runs. */
export const whileStarted = <T>(
  db: Database,
  replica: ReplicableRecord,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> =>
  whileOurs(
    {
      every_ms: confirmed_every_ms,
      confirm: async () => {
        const { rows } = await sql`
          update geo_replicas set retry_at = now() + ${lease} where ${isOf(replica)} and state = 'started' returning record`.execute(
          db,
        );
        if (rows.length === 0) throw new Error(`Nobody copies ${replica.replicable} ${replica.record} any more.`);
      },
    },
    new AbortController().signal,
    work,
  );

const isOf = ({ replicable, record }: ReplicableRecord) => sql`replicable = ${replicable} and record = ${record}`;

/** Ends a run. If an event has arrived in the meantime, the copy is due again immediately. */
async function end(
  db: Database,
  replica: StartedReplica,
  state: 'pending' | 'synced' | 'failed',
  columns: RawBuilder<unknown>,
  pause_s: number,
) {
  const isSame = sql`event_id = ${replica.event_id}`;
  await sql`
    update geo_replicas
       set state = case when ${isSame} then ${state} else 'pending' end,
           retry_at = case when ${isSame} then now() + make_interval(secs => ${pause_s}) else now() end, ${columns}
     where ${isOf(replica)} and state = 'started'`.execute(db);
}

export const endSynced = (db: Database, replica: StartedReplica, { checksum, size_bytes }: Copied): Promise<void> =>
  end(
    db,
    replica,
    'synced',
    sql`checksum = ${checksum}, size_bytes = ${size_bytes}, retry_count = 0, last_synced_at = now(), last_successful_sync_at = now(), last_sync_failure = null,
        missing_on_primary = false, verification_state = 'verified', verified_at = now(), last_verification_failure = null`,
    0,
  );

/**
 * @param reason as a sentence
 * @param is_missing whether the primary has no such repository or file
 */
export const endFailed = (db: Database, replica: StartedReplica, reason: string, is_missing: boolean): Promise<void> =>
  end(
    db,
    replica,
    'failed',
    sql`retry_count = retry_count + 1, last_synced_at = now(), last_sync_failure = ${reason}, missing_on_primary = ${is_missing}`,
    pauseAfter(replica.retry_count + 1, Math.random()),
  );

/** Returns a copy that cannot start yet to the queue; this is not a failure. */
export const endWaiting = (db: Database, replica: StartedReplica, reason: string): Promise<void> =>
  end(db, replica, 'pending', sql`last_sync_failure = ${reason}`, 1);

/** Deletes the row of a removed copy. */
export async function endRemoved(db: Database, replica: StartedReplica): Promise<void> {
  const { rows } = await sql`
    delete from geo_replicas where ${isOf(replica)} and state = 'started' and event_id = ${replica.event_id} returning record`.execute(
    db,
  );
  if (rows.length === 0) await end(db, replica, 'pending', sql`checksum = null`, 0);
}

/**
 * Makes a damaged copy due immediately and in full, unless it has changed since or is being updated.
 * @param replica with the last event at the time the damage was found
 */
export async function healCopy(
  db: Database,
  replica: Pick<StartedReplica, 'replicable' | 'record' | 'event_id'>,
  damage: string,
): Promise<void> {
  await sql`
    update geo_replicas
       set verification_state = 'failed', last_verification_failure = ${damage}, state = 'pending', retry_at = now(), retry_count = 0
     where ${isOf(replica)} and state <> 'started' and event_id = ${replica.event_id}`.execute(db);
}
