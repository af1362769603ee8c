/** The status of a site: a secondary reports it, and the primary stores it (docs/reference/geo.md#statuses). */
import { type Static, type TObject, Type } from 'typebox';
import { nullable, Timestamp } from '../../../../http/index.ts';
import { type Replicable, replicables } from '../../replicas/definition.ts';

/**
 * The counts of each replicable. The first four are about the primary; the others are about the copies of a secondary,
 * and null on a primary.
 */
export const counters = [
  ...(['count', 'checksum_total_count', 'checksummed_count', 'checksum_failed_count'] as const),
  ...(['synced_count', 'failed_count', 'registry_count'] as const),
  ...(['verification_total_count', 'verified_count', 'verification_failed_count'] as const),
] as const;
export type Counter = (typeof counters)[number];

export type Counts = Record<Counter, number | null> & { oldest_unsynced_time: string | null };

const Count = Type.Integer({ minimum: 0 });
const CountsSchema = Type.Object({
  ...Object.fromEntries(counters.map((name) => [name, nullable(Count)])),
  oldest_unsynced_time: nullable(Timestamp),
});
const Event = nullable(Type.Object({ id: Count, created_at: Timestamp }));

/** The fields of a reported status. */
export const siteStatus = {
  version: Type.String({ maxLength: 100 }),
  revision: Type.String({ maxLength: 100 }),
  counts: Type.Unsafe<Record<Replicable, Counts>>(
    Type.Object(Object.fromEntries(replicables.map((name) => [name, CountsSchema]))),
  ),
  /** The age of the oldest change of the primary that is missing on a secondary; null on a primary. */
  db_replication_lag_seconds: nullable(Count),
  /** The age of the oldest event that a secondary has not processed; null on a primary. */
  events_behind_seconds: nullable(Count),
  replication_slots: Type.Object({ count: Count, used_count: Count, max_retained_wal_bytes: Count }),
  last_event: Event,
  /** The last event up to which a secondary has processed all events. */
  cursor: Event,
  storages: Type.Array(Type.String({ maxLength: 255 }), { maxItems: 1000 }),
  /** Other problems there, as sentences, the worst first. */
  problems: Type.Array(Type.String({ maxLength: 1000 }), { maxItems: 20 }),
};

export type SiteStatus = Static<TObject<typeof siteStatus>>;
