/** Settings of the embedded PostgreSQL of a site that is a source of replication or a replica. */
import { statfs } from 'node:fs/promises';
import type pg from 'pg';

/**
 * The settings are stored in the cluster instead of given at the start: a command may start it, too, and a cluster with slots does not start without their WAL
 * level. A replica also has the settings of a source, so that others can follow it as soon as it is the primary.
 */
const settings = {
  wal_level: 'logical',
  // One slot for each replica, and more while tables are copied.
  max_wal_senders: '20',
  max_replication_slots: '20',
  // One worker that applies changes, and four that copy tables.
  max_logical_replication_workers: '5',
  max_sync_workers_per_subscription: '4',
  // The delay before a failed worker, whose site was unreachable, starts again.
  wal_retrieve_retry_interval: '2s',
};

/** The limit of the WAL that is kept for a disconnected replica: a dead one must not fill the disk. */
const maximumKept_mb = 16_384;
const megabyte = 1024 * 1024;

const set = (client: pg.Client, name: string, value: string) => client.query(`alter system set ${name} = '${value}'`);

/**
 * Prepares the cluster for replication.
 * @param folder of the cluster
 * @returns whether it must be restarted to apply the settings
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
