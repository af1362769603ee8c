/** Settings of the embedded PostgreSQL of a site that others follow, or that follows another. */
import { statfs } from 'node:fs/promises';
import type pg from 'pg';

/**
 * They are kept in the cluster, not given at the start: a command may start it, too, and a cluster with slots does not start without their level. A site that follows has those
 * of a source as well, so that others can follow it as soon as it is the primary.
 */
const settings = {
  wal_level: 'logical',
  // For each site that follows one, and more while tables are copied.
  max_wal_senders: '20',
  max_replication_slots: '20',
  // One that applies changes, and four that copy tables.
  max_logical_replication_workers: '5',
  max_sync_workers_per_subscription: '4',
  // Until what has failed, because the other site was away, begins again.
  wal_retrieve_retry_interval: '2s',
};

/** What is kept for a follower that does not connect: one that is dead must not fill the disk. */
const maximumKept_mb = 16_384;
const megabyte = 1024 * 1024;

const set = (client: pg.Client, name: string, value: string) => client.query(`alter system set ${name} = '${value}'`);

/**
 * Prepares the cluster for replication.
 * @param folder of the cluster
 * @returns whether it has to be restarted for it
 */
export async function prepareReplication(client: pg.Client, folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  const quarter_mb = Math.max(1, Math.floor((bavail * bsize) / 4 / megabyte));
  await set(client, 'max_slot_wal_keep_size', `${Math.min(maximumKept_mb, quarter_mb)}MB`);
  await client.query('select pg_reload_conf()');
  const { rows } = await client.query<{ isReady: boolean }>(
    `select current_setting('wal_level') = 'logical' and current_setting('max_logical_replication_workers')::int > 0 as "isReady"`,
  );
  if (rows[0]!.isReady) return false;
  for (const [name, value] of Object.entries(settings)) await set(client, name, value);
  return true;
}
