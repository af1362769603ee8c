/** Loads an archive into an empty, migrated database in one transaction. */
import { once } from 'node:events';
import type pg from 'pg';
import { type CopyStreamQuery, from } from 'pg-copy-streams';
import { HostClient } from '../db/index.ts';
import { columnList, jobsName, quoted, type Table } from './database_tables.ts';

interface Constraint {
  relation: string;
  name: string;
  definition: string;
}

/** Reads the entries below `database/` in the order in which `dumpDatabase` wrote them. */
export interface Loading {
  client: pg.Client;
  takeTables(tables: Table[]): Promise<void>;
  takeRows(name: string, content: AsyncIterable<Buffer>): Promise<void>;
  takeSequences(values: { name: string; value: string }[]): Promise<void>;
  commit(): Promise<void>;
  /** Closes the connection and rolls back uncommitted changes. */
  end(): Promise<void>;
}

/** Begins the transaction. */
export async function beginLoading(connectionString: string): Promise<Loading> {
  const client = new HostClient({ connectionString, application_name: 'coppice restore', options: '-c TimeZone=UTC' });
  client.on('error', () => {}); // the failing statement reports it as well
  await client.connect();
  await client.query('set idle_in_transaction_session_timeout = 0; set statement_timeout = 0; set datestyle = ISO');
  await client.query('begin');
  const tables = new Map<string, Table>();
  let constraints: Constraint[] = [];
  let open: { name: string; stream: CopyStreamQuery } | undefined;

  const closeRows = async () => {
    const closing = open;
    open = undefined;
    if (!closing) return;
    const finished = once(closing.stream, 'finish');
    closing.stream.end();
    await finished;
  };
  return {
    client,
    takeTables: async (given) => {
      for (const table of given) tables.set(table.name, table);
      constraints = await dropForeignKeys(client);
      await emptyTables(client, given);
      await makeRoomForJobs(client);
    },
    takeRows: async (name, content) => {
      if (open?.name !== name) {
        await closeRows();
        open = { name, stream: client.query(from(copyStatement(name, tables))) };
        // When the archive is truncated, the connection ends in the middle of the rows; the archive reports the error.
        open.stream.on('error', () => {});
      }
      const { stream } = open!;
      for await (const chunk of content) await write(stream, chunk);
    },
    takeSequences: async (values) => {
      await closeRows();
      await addJobs(client);
      for (const { name, value } of values)
        await client.query('select setval($1::regclass, $2)', [quoted(name), value]);
      await restoreForeignKeys(client, constraints, [...tables.keys()]);
    },
    commit: async () => {
      await client.query('commit');
      await client.query('analyze');
    },
    end: () => client.end(),
  };
}

/** An error of PostgreSQL ends the stream. */
function write(stream: CopyStreamQuery, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once('error', reject);
    stream.write(chunk, (error) => {
      stream.removeListener('error', reject);
      if (error) reject(error);
      else resolve();
    });
  });
}

function copyStatement(name: string, tables: Map<string, Table>): string {
  if (name === jobsName) return 'copy restored_jobs from stdin';
  const table = tables.get(name);
  if (!table) throw new Error(`the archive has rows of ${name}, but no such table`);
  return `copy ${quoted(name)} (${columnList(table)}) from stdin`;
}

/**
 * Tables may refer to each other in circles, and only superusers may disable the checks. Without the constraints, any
 * order works, and creating them again checks every row.
 */
async function dropForeignKeys(client: pg.Client): Promise<Constraint[]> {
  const { rows } = await client.query<Constraint>(
    `select conrelid::regclass::text as relation, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
       from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0 order by 1, 2`,
  );
  for (const { relation, name } of rows) await client.query(`alter table ${relation} drop constraint ${name}`);
  return rows;
}

/** Migrations may have filled tables, and triggers would write rows that the archive already has. */
async function emptyTables(client: pg.Client, tables: Table[]): Promise<void> {
  for (const { name } of tables) {
    await client.query(`alter table ${quoted(name)} disable trigger user`);
    await client.query(`delete from ${quoted(name)}`);
  }
}

async function restoreForeignKeys(client: pg.Client, constraints: Constraint[], tables: string[]): Promise<void> {
  for (const table of tables) await client.query(`alter table ${quoted(table)} enable trigger user`);
  for (const { relation, name, definition } of constraints)
    await client.query(`alter table ${relation} add constraint ${name} ${definition}`);
}

const makeRoomForJobs = (client: pg.Client) =>
  client.query(`create temporary table restored_jobs (identifier text, payload json, queue_name text, run_at timestamptz,
    max_attempts integer, key text, priority integer) on commit drop`);

/** Uses the queue's own function, because its tables may differ between versions. */
const addJobs = (client: pg.Client) =>
  client.query(`select graphile_worker.add_job(identifier, payload => payload, queue_name => queue_name, run_at => run_at,
    max_attempts => max_attempts, job_key => key, priority => priority) from restored_jobs`);
