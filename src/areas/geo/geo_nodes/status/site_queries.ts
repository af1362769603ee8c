/** The status of this site: counts from indexed tables, never from disks. */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { installedBuild, installedVersion } from '../../../../foundation/installation.ts';
import type { Services } from '../../../../http/index.ts';
import { type Replicable, replicables } from '../../replicas/definition.ts';
import { type Copies, copiesHere, eventsHere } from './copy_queries.ts';
import type { Counts, SiteStatus } from './definition.ts';
import { problemsHere } from './problem_queries.ts';
import { recordsHere } from './record_queries.ts';

const noCopies: Copies = {
  registry_count: null,
  synced_count: null,
  failed_count: null,
  oldest_unsynced_time: null,
  verification_total_count: null,
  verified_count: null,
  verification_failed_count: null,
};

async function countsHere(
  services: Pick<Services, 'db' | 'stored_files'>,
  isSecondary: boolean,
): Promise<Record<Replicable, Counts>> {
  const records = await recordsHere(services, !isSecondary);
  const copies = isSecondary ? await copiesHere(services.db) : undefined;
  const countsOf = (name: Replicable): Counts => {
    const copied = copies?.[name] ?? noCopies;
    // A secondary has a row for every selected record.
    const count = copied.registry_count ?? records[name].count;
    return { ...records[name], count, checksum_total_count: count, ...copied };
  };
  return Object.fromEntries(replicables.map((name) => [name, countsOf(name)])) as Record<Replicable, Counts>;
}

/**
 * The slots in which this primary keeps changes for its secondaries, without the temporary ones by which the tables of
 * a first copy catch up.
 */
async function replicationSlots(db: Database): Promise<SiteStatus['replication_slots']> {
  const { rows } = await sql<SiteStatus['replication_slots']>`
    select count(*) as count, count(*) filter (where active) as used_count,
           coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint as max_retained_wal_bytes
      from pg_replication_slots where database = current_database() and slot_name !~ '^pg_\\d+_sync_'`.execute(db);
  return rows[0]!;
}

/** The part of a status that is available immediately, however many records there are. */
export type Signs = Pick<
  SiteStatus,
  'problems' | 'db_replication_lag_seconds' | 'events_behind_seconds' | 'last_event' | 'cursor'
>;

/** The status of this site, without its counts. */
export async function signsOfThisSite(services: Pick<Services, 'db' | 'geo' | 'storages'>): Promise<Signs> {
  const { lag_seconds, problems } = await problemsHere(services);
  const events = await eventsHere(services.db, services.geo.role === 'secondary');
  return { problems, db_replication_lag_seconds: lag_seconds, ...events };
}

/** The status that this site reports. */
export async function statusOfThisSite(
  services: Pick<Services, 'db' | 'geo' | 'storages' | 'stored_files'>,
): Promise<SiteStatus> {
  const { db, geo, storages } = services;
  return {
    version: installedVersion,
    revision: installedBuild,
    ...(await signsOfThisSite(services)),
    counts: await countsHere(services, geo.role === 'secondary'),
    replication_slots: await replicationSlots(db),
    storages: Object.keys(storages),
  };
}
