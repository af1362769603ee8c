/** Filling an empty server from a backup. */
import { createWriteStream, existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { settleReferenceUpdates } from '../areas/code/repository/index.ts';
import { areaServices } from '../areas/index.ts';
import { type Blobs, keyAtPath } from '../blobs/index.ts';
import { connect } from '../db/index.ts';
import { commitBeforeBaseline, knownMigrations, migrate, sinceBaseline } from '../db/migrate.ts';
import { createRepository, deleteRepository, objectFilePattern, plantRefs, type Repository } from '../git/index.ts';
import { fingerprintOf, secretsFrom } from '../secrets/index.ts';
import { blobsOf, type ServicesConfig, secretKeyFile, servicesFor } from '../services/index.ts';
import { type ArchiveEntry, ArchiveError, isCompressed, jsonOf, readArchive, textOf } from './archive.ts';
import { type Manifest, type RepositoryEntry, secretKeyEntry } from './backup.ts';
import { beginLoading, type Loading } from './database_load.ts';
import { nameOf, placeOf, type RepositoryRow, repositoryRows, storagesOf } from './repositories.ts';

/** A reason not to restore, as a sentence for the operator. */
export class RestoreError extends Error {}

export interface RestoreOptions {
  /** The address of an empty database. */
  connectionString: string;
  /** Its storages and the folders of data and blobs are empty. */
  config: ServicesConfig;
  file: string;
  signal?: AbortSignal;
}

export interface RestoreResult {
  created_at: string;
  repositories: number;
  /** Full paths of projects that have an empty repository now, because theirs was deleted while the backup was made. */
  emptied: string[];
}

interface Progress {
  storages: Readonly<Record<string, string>>;
  blobs: Blobs;
  /** Where the secret key goes; nowhere when the operator gives one. */
  secretKeyFile: string | undefined;
  loading: Loading;
  /** By the names of their repositories. */
  rows: Map<string, RepositoryRow>;
  restored: Map<string, Repository>;
}

/**
 * Restores a backup. The database is committed when everything else is in place.
 * @throws RestoreError or ArchiveError for a file that cannot be restored here
 */
export async function restore({ connectionString, config, file, signal }: RestoreOptions): Promise<RestoreResult> {
  const entries = readArchive(file);
  const manifest = await readManifest(entries, file);
  if (manifest.secret_fingerprint !== undefined) refuseOtherKey(config, manifest.secret_fingerprint);
  await migrate(connectionString, { up_to: manifest.migrations.at(-1) });
  const loading = await beginLoading(connectionString);
  let result: RestoreResult;
  try {
    const progress: Progress = {
      storages: storagesOf(config),
      blobs: blobsOf(config),
      secretKeyFile: config.secretKey === undefined ? secretKeyFile(config) : undefined,
      loading,
      rows: new Map(),
      restored: new Map(),
    };
    for await (const entry of entries) {
      signal?.throwIfAborted();
      await place(entry, progress);
    }
    await refuseWithoutKey(config, progress);
    const emptied = await fillGaps(progress);
    await loading.commit();
    result = { created_at: manifest.created_at, repositories: progress.restored.size, emptied };
  } finally {
    await loading.end();
  }
  await migrate(connectionString);
  await settle(connectionString, config);
  return result;
}

const otherKey =
  'The backup was made with another secret key than COPPICE_SECRET_KEY, which could not decrypt its values. Set COPPICE_SECRET_KEY to the key of that server.';

/** Before anything is written, when the operator gives a key. */
function refuseOtherKey({ secretKey }: ServicesConfig, fingerprint: string): void {
  if (secretKey !== undefined && fingerprintOf(secretsFrom(secretKey)).toString('hex') !== fingerprint)
    throw new RestoreError(otherKey);
}

/** The key came with the backup or from the operator; a new one could decrypt nothing. */
async function refuseWithoutKey(config: ServicesConfig, { loading, secretKeyFile }: Progress): Promise<void> {
  const { rows } = await loading.client.query<{ fingerprint: string }>(
    "select encode(secret_fingerprint, 'hex') as fingerprint from instance",
  );
  if (!rows[0]) return;
  if (secretKeyFile !== undefined && !existsSync(secretKeyFile))
    throw new RestoreError(
      'The backup has no secret key. Set COPPICE_SECRET_KEY to the key of the server that it was made on.',
    );
  refuseOtherKey(config, rows[0].fingerprint);
}

/**
 * Reads the first entry.
 * @throws RestoreError or ArchiveError for a file that this version cannot restore
 */
export async function readManifest(entries: AsyncGenerator<ArchiveEntry>, file: string): Promise<Manifest> {
  const { value: first } = await entries.next().catch(async (error) => {
    if (error instanceof ArchiveError && (await isCompressed(file))) throw error;
    throw new ArchiveError(`${file} is no backup of Coppice.`, { cause: error });
  });
  if (first?.name !== 'manifest.json') throw new ArchiveError(`${file} is no backup of Coppice.`);
  const manifest = await jsonOf<Manifest>(first.content, first.name);
  const migrations = sinceBaseline(manifest.migrations);
  if (migrations === undefined)
    throw new RestoreError(
      `${file} was made by an early version of Coppice. Restore it with commit ${commitBeforeBaseline}, start this version with what was restored, and make a new backup.`,
    );
  const known = await knownMigrations();
  const unknown = migrations.filter((name) => !known.includes(name));
  if (manifest.format !== 1 || unknown.length > 0)
    throw new RestoreError(
      `${file} was made by a newer version of Coppice. Restore it with that version or a later one.`,
    );
  return { ...manifest, migrations };
}

async function place(entry: ArchiveEntry, progress: Progress): Promise<void> {
  const { name, content } = entry;
  const [, repository, below] = /^(repositories\/(?:[a-z]+\/)?\d+)\/(.+)$/.exec(name) ?? [];
  if (repository !== undefined && below !== undefined) return placeInRepository(repository, below, content, progress);
  if (name.startsWith('blobs/')) return placeBlob(entry, progress.blobs);
  if (name === secretKeyEntry) return placeSecretKey(content, progress);
  const { loading } = progress;
  const [, table] = /^database\/rows\/([a-z0-9_.]+)\/\d+$/.exec(name) ?? [];
  if (table !== undefined) return loading.takeRows(table, content);
  if (name === 'database/tables.json') return loading.takeTables(await jsonOf(content, name));
  if (name !== 'database/sequences.json')
    throw new RestoreError(`The backup has an entry that this version does not know: ${name}.`);
  await loading.takeSequences(await jsonOf(content, name));
  await skipAnsweredEvents(loading.client);
  // The processes that began these updates are gone, so settling need not wait for them.
  await loading.client.query("update reference_updates set created_at = created_at - interval '1 day'");
  await scheduleAgain(loading.client);
  for (const row of await repositoryRows(loading.client)) progress.rows.set(nameOf(row), row);
}

/** What storage moves have copied is not in the backup, and no one runs them: they begin anew, and nothing is read-only before. Older schemas have none. */
async function scheduleAgain(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ is_known: boolean }>(
    "select to_regclass('repository_storage_moves') is not null as is_known",
  );
  if (!rows[0]!.is_known) return;
  await client.query("update repository_storage_moves set state = 'scheduled', runs = 0 where state = 'started'");
}

/** More than a server records between two backups. */
const events_since_backup = 10_000_000;

/** Clients poll for what follows the last event that they have seen, which may be younger than the backup: its id must not be given again. */
const skipAnsweredEvents = (client: pg.ClientBase) =>
  client.query("select setval('events_id_seq', last_value + $1) from events_id_seq", [events_since_backup]);

async function placeInRepository(
  name: string,
  below: string,
  content: ArchiveEntry['content'],
  progress: Progress,
): Promise<void> {
  if (below === 'repository.json') {
    const entry = await jsonOf<RepositoryEntry>(content, `${name}/${below}`);
    const row = progress.rows.get(name);
    if (!row) throw new ArchiveError(`The backup has ${name}, but no row that it belongs to.`);
    // A repository that changed its storage while it was copied begins anew.
    await deleteRepository(requiredPlace(progress.storages, row));
    progress.restored.set(
      name,
      await beginRepository(entry, requiredPlace(progress.storages, row), row.default_branch),
    );
    await announceMoves(progress.loading.client, row, entry);
    return;
  }
  const repository = progress.restored.get(name);
  const file = below.replace(/^objects\//, '');
  if (!repository || !objectFilePattern.test(file))
    throw new ArchiveError(`The backup has a file out of place: ${below}.`);
  await write(path.join(repository.path, 'objects', file), content, 0o444);
}

async function placeBlob({ name, size_bytes, content }: ArchiveEntry, blobs: Blobs): Promise<void> {
  const key = keyAtPath(name.slice('blobs/'.length));
  if (key === undefined) throw new ArchiveError(`The backup has a file out of place: ${name}.`);
  const received = await blobs.receive(key, Readable.from(content), { at_most_bytes: size_bytes });
  await received.keep();
}

async function placeSecretKey(content: ArchiveEntry['content'], { secretKeyFile }: Progress): Promise<void> {
  const key = await textOf(content);
  if (secretKeyFile !== undefined) await write(secretKeyFile, Readable.from([Buffer.from(key)]), 0o600);
}

/** Writes a file with its folders, and waits for the disk. */
export async function write(file: string, content: ArchiveEntry['content'], mode: number): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await pipeline(Readable.from(content), createWriteStream(file, { mode, flush: true }));
}

/** Makes a repository without objects, with the settings of this version. */
export async function beginRepository(
  { head, object_format, refs }: RepositoryEntry,
  place: Repository,
  default_branch: string,
): Promise<Repository> {
  const repository = await createRepository(place.path, {
    defaultBranch: head ?? default_branch,
    objectFormat: object_format,
  });
  await plantRefs(repository, new Map(refs));
  return repository;
}

/** @throws RestoreError when its storage is not configured */
function requiredPlace(storages: Progress['storages'], row: RepositoryRow): Repository {
  const place = placeOf(storages, row);
  if (!place)
    throw new RestoreError(`The backup has repositories on the storage ${row.storage}; COPPICE_STORAGES must name it.`);
  return place;
}

/** What had moved when the repository was copied, but perhaps not yet when the database was: settled as after a crash. */
async function announceMoves(
  client: pg.ClientBase,
  { kind, id }: RepositoryRow,
  { moved }: RepositoryEntry,
): Promise<void> {
  if (moved.length === 0) return;
  await client.query(`insert into reference_updates (${kind.column}, updates) values ($1, $2)`, [
    id,
    JSON.stringify(moved),
  ]);
}

/**
 * An owner without a repository would be broken: some kinds get an empty repository, owners of other kinds are deleted.
 * @returns the paths of the owners that got an empty one
 */
async function fillGaps({ loading, rows, restored, storages }: Progress): Promise<string[]> {
  const emptied: string[] = [];
  for (const [name, row] of rows) {
    if (restored.has(name)) continue;
    const { kind, id } = row;
    if (!kind.emptied) {
      await loading.client.query(`delete from ${kind.table} where id = $1`, [id]);
      continue;
    }
    const nothing: RepositoryEntry = { head: null, object_format: 'sha1', refs: [], moved: [] };
    await beginRepository(nothing, requiredPlace(storages, row), row.default_branch);
    for (const statement of kind.emptied(id)) await loading.client.query(statement);
    emptied.push(row.full_path);
  }
  return emptied;
}

async function settle(connectionString: string, config: RestoreOptions['config']): Promise<void> {
  const db = connect({ connectionString, max: 2 });
  try {
    while ((await settleReferenceUpdates(servicesFor(config, db, areaServices))) > 0);
  } finally {
    await db.destroy();
  }
}
