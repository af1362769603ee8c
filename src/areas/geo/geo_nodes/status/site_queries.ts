/** What this site knows of itself: numbers counted from tables with indexes, never from disks. */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import type { Services } from '../../../../http/index.ts';
import { installedBuild, installedVersion } from '../../../../installation.ts';
import { type Counted, type Counts, counted, type SiteStatus } from './definition.ts';

const blobsOf = ['users', 'projects', 'namespaces', 'topics'].map(
  (table) => sql`select count(avatar_key) as count from ${sql.table(table)}`,
);

/** How many records there are of what is copied. */
const records: Record<Counted, ReturnType<typeof sql>> = {
  project_repositories: sql`(select count(*) from projects)`,
  snippet_repositories: sql`(select count(*) from snippets)`,
  project_wiki_repositories: sql`(select count(project_id) from wikis)`,
  group_wiki_repositories: sql`(select count(group_id) from wikis)`,
  lfs_objects: sql`(select count(*) from lfs_objects)`,
  uploads: sql`(select sum(count) from (${sql.join(blobsOf, sql` union all `)}
    union all select count(*) from uploads union all select count(*) from issue_metric_images
    union all select count(blob_key) from dependency_list_exports union all select count(*) from relation_export_files
    union all select count(*) from error_tracking_source_maps) blobs)`,
};

async function countsHere(db: Database): Promise<Record<Counted, Counts>> {
  const columns = counted.map((name) => sql`${records[name]}::bigint as ${sql.ref(name)}`);
  const { rows } = await sql<Record<Counted, number>>`select ${sql.join(columns)}`.execute(db);
  const copies = { synced_count: null, failed_count: null, registry_count: null, oldest_unsynced_time: null };
  const verified = { verification_total_count: null, verified_count: null, verification_failed_count: null };
  const ofOne = (count: number): Counts => ({
    ...{ count, checksum_total_count: count, checksummed_count: 0, checksum_failed_count: 0 },
    ...copies,
    ...verified,
  });
  return Object.fromEntries(counted.map((name) => [name, ofOne(rows[0]![name])])) as Record<Counted, Counts>;
}

/** The slots of the secondaries, which keep changes for them. */
async function replicationSlots(db: Database): Promise<SiteStatus['replication_slots']> {
  const { rows } = await sql<SiteStatus['replication_slots']>`
    select count(*) as count, count(*) filter (where active) as used_count,
           coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)), 0)::bigint as max_retained_wal_bytes
      from pg_replication_slots where database = current_database()`.execute(db);
  return rows[0]!;
}

/** What this site would report of itself. */
export async function statusOfThisSite({ db, storages }: Pick<Services, 'db' | 'storages'>): Promise<SiteStatus> {
  return {
    version: installedVersion,
    revision: installedBuild,
    counts: await countsHere(db),
    db_replication_lag_seconds: null,
    events_behind_seconds: null,
    replication_slots: await replicationSlots(db),
    last_event: null,
    cursor: null,
    storages: Object.keys(storages),
    problems: [],
  };
}
