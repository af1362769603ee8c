/** A backup of a running server (docs/decisions/0011-a-backup-settles-like-a-crash.md explains why it is consistent). */
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { type BlobKey, type Blobs, pathOfBlob } from '../blobs/index.ts';
import { allRefs, copyObjectFiles, headBranch, type Repository } from '../git/index.ts';
import { keyInFile } from '../secrets/index.ts';
import { type ArchiveWriter, createArchive } from './archive.ts';
import { type BlobReference, RememberedKeys } from './blob_references.ts';
import { dumpDatabase, migrationsOf, type Snapshot, takeSnapshot } from './database_dump.ts';
import { inParallel } from './in_parallel.ts';
import { nameOf, placeOf, type RepositoryRow, repositoryRows } from './repositories.ts';

/** The first entry. */
export interface Manifest {
  format: 1;
  created_at: string;
  /** The migrations of the schema that the rows belong to. */
  migrations: string[];
  /** A digest of the secret key that encrypted the values in the database, in hexadecimal; backups of older versions have none. */
  secret_fingerprint?: string;
}

/** The header of a repository in the archive. */
export interface RepositoryEntry {
  head: string | null;
  object_format: 'sha1' | 'sha256';
  refs: [ref: string, id: string][];
  /** Refs that may have moved after the snapshot of the database, in the form of `reference_updates.updates`. */
  moved: { ref: string; old: string | null; new: string | null }[];
}

export interface BackupOptions {
  connectionString: string;
  storages: Readonly<Record<string, string>>;
  blobs: Blobs;
  /** The file of the secret key; left out when the operator sets the key. */
  secretKeyFile: string | undefined;
  /** Must not exist. */
  file: string;
  signal?: AbortSignal;
}

export interface BackupResult {
  repositories: number;
  /** Paths of repositories that were deleted while the backup ran. */
  gone: string[];
  /** Blobs that rows refer to and that the store does not have, so that the backup lacks them too. */
  missing: BlobReference[];
}

type Refs = ReadonlyMap<string, string>;

/** The name of the secret key in a backup. Without the key, encrypted values in the database would be lost. */
export const secretKeyEntry = 'secret.key';

const atOnce = 4;

/**
 * Writes all data to one file.
 * @throws any error that stops it, after deleting the file
 */
export async function backup({
  connectionString,
  storages,
  blobs,
  secretKeyFile,
  file,
  signal,
}: BackupOptions): Promise<BackupResult> {
  const archive = createArchive(file, signal);
  let snapshot: Snapshot | undefined;
  try {
    const before = await refsBefore(connectionString, storages, signal);
    snapshot = await takeSnapshot(connectionString);
    const manifest: Manifest = {
      format: 1,
      created_at: new Date().toISOString(),
      migrations: await migrationsOf(snapshot),
      ...(await fingerprintIn(snapshot)),
    };
    await archive.add('manifest.json', JSON.stringify(manifest));
    if (secretKeyFile !== undefined) await archive.add(secretKeyEntry, `${keyInFile(secretKeyFile)}\n`);
    await dumpDatabase(snapshot, archive);
    const rows = await repositoryRows(snapshot.client);
    // The snapshot is no longer needed, so that the database can vacuum again.
    await snapshot.client.query('commit');
    const gone: string[] = [];
    for (const row of rows) {
      if (!(await addRepository(archive, snapshot, storages, row, before.get(nameOf(row))))) gone.push(row.full_path);
    }
    // Blobs are stored before the rows that refer to them, and never change.
    const added = await RememberedKeys.begin(snapshot.client);
    for await (const key of blobs.keys()) if (await addBlob(archive, blobs, key)) await added.add(key);
    const missing = await added.missing(blobs);
    await archive.finish();
    return { repositories: rows.length - gone.length, gone, missing };
  } catch (error) {
    await archive.abandon();
    throw error;
  } finally {
    await snapshot?.end();
  }
}

/** A database that no server has used yet has none. */
async function fingerprintIn({ client }: Snapshot): Promise<Pick<Manifest, 'secret_fingerprint'>> {
  const { rows } = await client.query<{ fingerprint: string }>(
    "select encode(secret_fingerprint, 'hex') as fingerprint from instance",
  );
  return rows[0] ? { secret_fingerprint: rows[0].fingerprint } : {};
}

/** Every ref as it was before the snapshot: one that differs later may have moved without the snapshot knowing. */
async function refsBefore(
  connectionString: string,
  storages: BackupOptions['storages'],
  signal: AbortSignal | undefined,
): Promise<Map<string, Refs>> {
  const looking = await takeSnapshot(connectionString);
  const rows = await repositoryRows(looking.client).finally(() => looking.end());
  const refs = new Map<string, Refs>();
  await inParallel(rows, atOnce, async (row) => {
    signal?.throwIfAborted();
    const repository = placeOf(storages, row);
    // A missing repository is handled when it is copied.
    if (repository && (await isThere(repository)))
      refs.set(nameOf(row), await allRefs(repository).catch(() => new Map()));
  });
  return refs;
}

const isThere = async (repository: Repository): Promise<boolean> =>
  (await stat(path.join(repository.path, 'objects')).catch(() => undefined)) !== undefined;

/** @returns false when the owner was deleted */
async function addRepository(
  archive: ArchiveWriter,
  { client }: Snapshot,
  storages: BackupOptions['storages'],
  row: RepositoryRow,
  before: Refs = new Map(),
): Promise<boolean> {
  for (let look = 0; look < 2; look++) {
    // It may have moved to another storage or been deleted meanwhile.
    const { rows } = await client.query<{ storage: string }>(`select storage from ${row.kind.table} where id = $1`, [
      row.id,
    ]);
    if (!rows[0]) return false;
    const repository = placeOf(storages, { ...row, storage: rows[0].storage });
    if (!repository || !(await isThere(repository))) continue;
    try {
      await copy(archive, repository, nameOf(row), before);
      return true;
    } catch (error) {
      if (await isThere(repository)) throw error;
    }
  }
  throw new Error(
    `The repository of ${row.kind.name} ${row.id} (${row.full_path}) is not on the storage ${row.storage}.`,
  );
}

/** Refs first: objects are only added, so that a later copy contains every object that the refs need. */
async function copy(archive: ArchiveWriter, repository: Repository, name: string, before: Refs): Promise<void> {
  const [refs, head] = [await allRefs(repository), await headBranch(repository)];
  const entry: RepositoryEntry = {
    head: head ?? null,
    object_format: await objectFormatOf(repository),
    refs: [...refs],
    moved: movedBetween(before, refs),
  };
  await archive.add(`${name}/repository.json`, JSON.stringify(entry));
  await copyObjectFiles(repository, (file) =>
    archive.addStream(`${name}/objects/${file.name}`, file.size_bytes, file.content),
  );
}

async function objectFormatOf(repository: Repository): Promise<RepositoryEntry['object_format']> {
  await using config = await open(path.join(repository.path, 'config'));
  return /objectformat\s*=\s*sha256/i.test(await config.readFile('utf8')) ? 'sha256' : 'sha1';
}

/** Branches and tags; the journal records no other refs. */
function movedBetween(before: Refs, after: Refs): RepositoryEntry['moved'] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names]
    .filter((ref) => /^refs\/(?:heads|tags)\//.test(ref))
    .map((ref) => ({ ref, old: before.get(ref) ?? null, new: after.get(ref) ?? null }))
    .filter((move) => move.old !== move.new);
}

/** @returns false when it has been deleted meanwhile */
async function addBlob(archive: ArchiveWriter, blobs: Blobs, key: BlobKey): Promise<boolean> {
  const found = await blobs.stat(key);
  const content = found && (await blobs.read(key));
  if (content) await archive.addStream(`blobs/${pathOfBlob(key)}`, found.size_bytes, content);
  return content !== undefined;
}
