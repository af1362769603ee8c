/** Writes the database to an archive, row by row, without pg_dump, which the embedded PostgreSQL does not include. */
import type pg from 'pg';
import { to } from 'pg-copy-streams';
import { HostClient } from '../db/index.ts';
import type { ArchiveWriter } from './archive.ts';
import { columnList, jobsName, jobsQuery, quoted, tablesOf } from './database_tables.ts';

/** The size of an entry precedes it, so rows are buffered up to this size. */
const entry_bytes = 8 * 1024 * 1024;

/** A snapshot of the database, unaffected by later writes. */
export interface Snapshot {
  client: pg.Client;
  end(): Promise<void>;
}

/** Takes a snapshot of the database. */
export async function takeSnapshot(connectionString: string): Promise<Snapshot> {
  const client = new HostClient({ connectionString, application_name: 'coppice backup', options: '-c TimeZone=UTC' });
  client.on('error', () => {}); // the failing statement reports it as well
  await client.connect();
  try {
    await client.query('set idle_in_transaction_session_timeout = 0; set statement_timeout = 0; set datestyle = ISO');
    await client.query('begin isolation level repeatable read, read only');
    await client.query('select 1'); // the snapshot is taken by the first statement
  } catch (error) {
    await client.end().catch(() => {});
    throw error;
  }
  return { client, end: () => client.end() };
}

/** The migrations of the schema, in order. */
export async function migrationsOf({ client }: Snapshot): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from kysely_migration order by name');
  return rows.map(({ name }) => name);
}

/** Adds all rows, jobs and sequence values. */
export async function dumpDatabase({ client }: Snapshot, archive: ArchiveWriter): Promise<void> {
  const tables = await tablesOf(client);
  await archive.add('database/tables.json', JSON.stringify(tables));
  for (const table of tables)
    await dumpRows(client, archive, table.name, `select ${columnList(table)} from ${quoted(table.name)}`);
  await dumpRows(client, archive, jobsName, jobsQuery);
  // Last, because sequences are not part of the snapshot: their values are then beyond every id in the rows above.
  const { rows } = await client.query<{ name: string; value: string }>(
    "select sequencename as name, last_value as value from pg_sequences where schemaname = 'public' and last_value is not null",
  );
  await archive.add('database/sequences.json', JSON.stringify(rows));
}

async function dumpRows(client: pg.Client, archive: ArchiveWriter, name: string, query: string): Promise<void> {
  let chunks: Buffer[] = [];
  let size_bytes = 0;
  let part = 0;
  const flush = async () => {
    part++;
    await archive.add(`database/rows/${name}/${String(part).padStart(6, '0')}`, Buffer.concat(chunks));
    chunks = [];
    size_bytes = 0;
  };
  for await (const chunk of client.query(to(`copy (${query}) to stdout`)) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size_bytes += chunk.length;
    if (size_bytes >= entry_bytes) await flush();
  }
  await flush();
}
