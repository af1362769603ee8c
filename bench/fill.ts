/** Fills the database of an instance by insert-select, as fast as the disk takes it, with every index there afterwards. */
import pg from 'pg';
import { startEmbedded } from '../src/db/embedded.ts';
import type { Instance } from './instance.ts';

/**
 * Written one by one, with triggers and indexes, the same rows would take an hour.
 * @param tables whose indexes are made afterwards
 * @param statements run in one transaction without triggers, so they also write what triggers would keep
 * @returns the connection string of the database
 */
export async function fill({ data }: Instance, tables: readonly string[], statements: string): Promise<string> {
  const { connectionString, stop } = await startEmbedded(data, { use: 'shared' });
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows: indexes } = await client.query<{ name: string; definition: string }>(
      `select indexname as name, indexdef as definition from pg_indexes
        where tablename = any($1) and not exists (select from pg_constraint where conname = indexname)`,
      [tables],
    );
    await client.query(
      "begin; set local session_replication_role = replica; set local work_mem = '64MB'; set local maintenance_work_mem = '256MB'",
    );
    for (const { name } of indexes) await client.query(`drop index ${name}`);
    await client.query(statements);
    for (const { definition } of indexes) await client.query(definition);
    await client.query('commit');
    await client.query('vacuum analyze');
    await client.query('checkpoint');
  } finally {
    await client.end();
    await stop();
  }
  return connectionString;
}
