/** A secondary without a server: its database gets rows as replication brings them, when a test says so, and its polls run in the test. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { newCredential } from '../../src/areas/geo/link/index.ts';
import { copyPolls, keepChecksums, primaryPolls } from '../../src/areas/geo/replicas/index.ts';
import { diskBlobs } from '../../src/blobs/index.ts';
import type { Database } from '../../src/db/index.ts';
import { type JobServices, storagesOf } from '../../src/services/index.ts';
import { anotherDatabase } from './database.ts';
import { atFileEnd } from './file_end.ts';
import { performQueued } from './jobs.ts';
import { type World, world } from './world.ts';

const nodeName = 'Far away';

/** The tables that tests of copies read, without events: of these only new rows are applied. */
const replicated = [
  'users',
  'namespaces',
  'projects',
  'snippets',
  'wikis',
  'issues',
  'uploads',
  'lfs_objects',
  'lfs_objects_projects',
  'geo_nodes',
  'geo_node_namespaces',
  'geo_checksums',
];

export interface CopyingSite {
  services: JobServices;
  db: Database;
  /** Brings the rows of the primary, whose polls have run before. */
  follow(): Promise<void>;
  /** Follows, and brings all copies up to date. */
  copy(): Promise<void>;
  /** Lets the time pass that copies wait after failures. */
  pass(): Promise<void>;
  replica(replicable: string, record: number | string): Promise<Replica | undefined>;
}

type Replica = Awaited<ReturnType<typeof replicaIn>>;

const replicaIn = (db: Database, replicable: string, record: string) =>
  db
    .selectFrom('geo_replicas')
    .selectAll()
    .where('replicable', '=', replicable)
    .where('record', '=', record)
    .executeTakeFirst();

async function apply(from: Database, to: Database): Promise<void> {
  await to.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    for (const table of replicated) {
      await sql`delete from ${sql.table(table)}`.execute(tx);
      await insertRows(from, tx, table);
    }
    const { rows } = await sql<{ last: number }>`select coalesce(max(id), 0) as last from geo_events`.execute(tx);
    await insertRows(from, tx, 'geo_events', rows[0]!.last);
  });
}

async function insertRows(from: Database, to: Database, table: string, after?: number): Promise<void> {
  const { rows } = await sql<{ rows: string; columns: string[] }>`
    select coalesce(json_agg(each), '[]')::text as rows,
           (select array_agg(column_name::text) from information_schema.columns
             where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER') as columns
      from ${sql.table(table)} each where ${after === undefined ? sql`true` : sql`id > ${after}`}`.execute(from);
  const { rows: given, columns } = rows[0]!;
  const list = sql.join(columns.map((column) => sql.ref(column)));
  await sql`
    insert into ${sql.table(table)} (${list}) overriding system value
    select ${list} from json_populate_recordset(null::${sql.table(table)}, ${given}::json)`.execute(to);
}

/** As if a subscription had copied everything. */
async function pretendToFollow(db: Database): Promise<void> {
  await sql`create subscription pretended connection 'host=nowhere.invalid' publication none with (connect = false)`.execute(
    db,
  );
  await sql`
    insert into pg_subscription_rel (srsubid, srrelid, srsubstate)
    select oid, 'projects'::regclass, 'r' from pg_subscription where subname = 'pretended'`.execute(db);
  atFileEnd(async () => {
    await sql`alter subscription pretended set (slot_name = none)`.execute(db);
    await sql`drop subscription pretended`.execute(db);
  });
}

let site: Promise<Omit<CopyingSite, 'follow' | 'copy'> & { files: string }> | undefined;

async function make({ services }: World) {
  atFileEnd(() => {
    site = undefined;
  });
  const { db } = await anotherDatabase();
  await pretendToFollow(db);
  const files = await mkdtemp(path.join(tmpdir(), 'coppice-copies-'));
  atFileEnd(() => rm(files, { recursive: true, force: true }));
  const geo = { role: 'secondary', nodeName, primaryUrl: undefined, databaseUrl: undefined } as const;
  const named = ['default', 'second'].map((name) => ({ name, path: path.join(files, name) }));
  for (const { path: folder } of named) await mkdir(folder);
  const storages = storagesOf({ storages: named, geo });
  return {
    services: {
      ...services,
      db,
      storages,
      blobs: diskBlobs(path.join(files, 'blobs')),
      downloads: path.join(files, 'downloads'),
      geo,
    },
    db,
    files,
    pass: async () => {
      await sql`update geo_replicas set retry_at = now() where state <> 'synced'`.execute(db);
    },
    replica: (replicable: string, record: number | string) => replicaIn(db, replicable, String(record)),
  };
}

let options: ReturnType<typeof threeStorages> | undefined;

/** Of the primary; the secondary does not have the third. */
async function threeStorages() {
  atFileEnd(() => {
    options = undefined;
  });
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-storages-'));
  atFileEnd(() => rm(folder, { recursive: true, force: true }));
  const names = ['default', 'second', 'third'];
  await Promise.all(names.map((name) => mkdir(path.join(folder, name))));
  const storages = names.map((name) => `${name}=${path.join(folder, name)}`).join(',');
  return { environment: { COPPICE_GEO_ROLE: 'primary', COPPICE_STORAGES: storages } };
}

/** A primary with a world of its own, and the secondary of the file. */
export async function copyingSite(): Promise<{ here: World; there: CopyingSite }> {
  options ??= threeStorages();
  const here = await world(await options);
  const node = { name: nodeName, url: 'https://far.example/', credential: newCredential(here.services.secrets) };
  await here.db
    .insertInto('geo_nodes')
    .values(node)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  site ??= make(here);
  const made = await site;
  const services = { ...made.services, geo: { ...made.services.geo, primaryUrl: here.url } };
  const follow = async () => {
    await performQueued(here.services, [...primaryPolls, keepChecksums]);
    await apply(here.db, made.db);
  };
  const copy = async () => {
    await follow();
    await performQueued(services, copyPolls);
  };
  return { here, there: { ...made, services, follow, copy } };
}
