/** Settings of the embedded PostgreSQL that another one follows, or that follows another. */
import { statfs } from 'node:fs/promises';
import type pg from 'pg';

/** Whether other databases follow this one (`source`), or this one follows another (`target`). */
export type Replication = 'source' | 'target';

/**
 * They are kept in the cluster, not given at the start: a command may start it, too, and a cluster with slots does not start without their level. Each site that follows
 * has a session that sends changes, and more while tables are copied; it applies changes with one worker, and copies tables with the others.
 */
const settings: Record<Replication, Record<string, string>> = {
  source: { wal_level: 'logical', max_wal_senders: '20', max_replication_slots: '20' },
  target: { max_logical_replication_workers: '5', max_sync_workers_per_subscription: '4' },
};

/** What is kept for a follower that does not connect: one that is dead must not fill the disk. */
const mostKept_mb = 16_384;
const megabyte = 1024 * 1024;

const set = (client: pg.Client, name: string, value: string) => client.query(`alter system set ${name} = '${value}'`);

/**
 * Makes the settings those of its part.
 * @param folder of the cluster
 * @returns whether they need a restart
 */
export async function prepareReplication(client: pg.Client, folder: string, replication: Replication): Promise<boolean> {
  if (replication === 'source') {
    const { bavail, bsize } = await statfs(folder);
    const quarter_mb = Math.max(1, Math.floor((bavail * bsize) / 4 / megabyte));
    await set(client, 'max_slot_wal_keep_size', `${Math.min(mostKept_mb, quarter_mb)}MB`);
    await client.query('select pg_reload_conf()');
  }
  const { rows } = await client.query<{ source: boolean; target: boolean }>(
    `select current_setting('wal_level') = 'logical' as source, current_setting('max_logical_replication_workers')::int > 0 as target`,
  );
  if (rows[0]![replication]) return false;
  for (const [name, value] of Object.entries(settings[replication])) await set(client, name, value);
  return true;
}
