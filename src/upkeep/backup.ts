/** A backup while everybody goes on working (docs/decisions/0011-a-backup-settles-like-a-crash.md says why it is sound). */
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { allRefs, headBranch, objectFiles, type Repository } from '../git/index.ts';
import { keyInFile } from '../secrets/index.ts';
import { type ArchiveWriter, createArchive } from './archive.ts';
import { blobFiles } from './blob_files.ts';
import { dumpDatabase, migrationsOf, type Snapshot, takeSnapshot } from './database_dump.ts';
import { inParallel } from './in_parallel.ts';
import { placeOf, type RepositoryRow, repositoryRows } from './repositories.ts';

/** The first entry. */
export interface Manifest {
  format: 1;
  created_at: string;
  /** Those that made the schema of the rows. */
  migrations: string[];
}

/** What stands before the objects of a repository. */
export interface RepositoryEntry {
  head: string | null;
  object_format: 'sha1' | 'sha256';
  refs: [ref: string, id: string][];
  /** What may have moved after the database was looked at: as `reference_updates.updates`. */
  moved: { ref: string; old: string | null; new: string | null }[];
}

export interface BackupOptions {
  connectionString: string;
  storages: Readonly<Record<string, string>>;
  /** The folder of blobs. */
  blobs: string;
  /** The file with the secret key; left out when the operator keeps it. */
  secretKeyFile: string | undefined;
  /** Must not exist. */
  file: string;
  signal?: AbortSignal;
}

export interface BackupResult {
  repositories: number;
  /** Full paths of projects that went away, with their repository, while the backup was made. */
  gone: string[];
}

type Refs = ReadonlyMap<string, string>;

/** The name of the secret key in a backup: without it, what is sealed in the database would be lost. */
export const secretKeyEntry = 'secret.key';

const atOnce = 4;
/** Maintenance may replace files while they are read; each of its runs takes far longer than one more look. */
const looks = 20;

/**
 * Writes everything that lasts to one file.
 * @throws whatever stops it; nothing is left of the file then
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
    const manifest: Manifest = { format: 1, created_at: new Date().toISOString(), migrations: await migrationsOf(snapshot) };
    await archive.add('manifest.json', JSON.stringify(manifest));
    if (secretKeyFile !== undefined) await archive.add(secretKeyEntry, `${keyInFile(secretKeyFile)}\n`);
    await dumpDatabase(snapshot, archive);
    const rows = await repositoryRows(snapshot.client);
    // From here on the database may tidy up again: nothing more is read at that moment.
    await snapshot.client.query('commit');
    const gone: string[] = [];
    for (const row of rows) {
      if (!(await addRepository(archive, snapshot, storages, row, before.get(row.id)))) gone.push(row.full_path);
    }
    // Blobs come before the rows that speak of them, and never change.
    for await (const name of blobFiles(blobs)) await addFile(archive, `blobs/${name}`, path.join(blobs, name));
    await archive.finish();
    return { repositories: rows.length - gone.length, gone };
  } catch (error) {
    await archive.abandon();
    throw error;
  } finally {
    await snapshot?.end();
  }
}

/** Where every ref was before the look at the database: what is elsewhere later may have moved without the database knowing. */
async function refsBefore(
  connectionString: string,
  storages: BackupOptions['storages'],
  signal: AbortSignal | undefined,
): Promise<Map<number, Refs>> {
  const looking = await takeSnapshot(connectionString);
  const rows = await repositoryRows(looking.client).finally(() => looking.end());
  const refs = new Map<number, Refs>();
  await inParallel(rows, atOnce, async (row) => {
    signal?.throwIfAborted();
    const repository = placeOf(storages, row);
    // One that is missing now is judged when it is copied.
    if (repository && (await isThere(repository))) refs.set(row.id, await allRefs(repository).catch(() => new Map()));
  });
  return refs;
}

const isThere = async (repository: Repository): Promise<boolean> =>
  (await stat(path.join(repository.path, 'objects')).catch(() => undefined)) !== undefined;

/** @returns false when it is gone, and its row too */
async function addRepository(
  archive: ArchiveWriter,
  { client }: Snapshot,
  storages: BackupOptions['storages'],
  row: RepositoryRow,
  before: Refs = new Map(),
): Promise<boolean> {
  for (let look = 0; look < 2; look++) {
    // It may have moved to another storage since, or have been deleted.
    const { rows } = await client.query<{ storage: string }>('select storage from projects where id = $1', [row.id]);
    if (!rows[0]) return false;
    const repository = placeOf(storages, { id: row.id, storage: rows[0].storage });
    if (!repository || !(await isThere(repository))) continue;
    try {
      await copy(archive, repository, `repositories/${row.id}`, before);
      return true;
    } catch (error) {
      if (await isThere(repository)) throw error;
    }
  }
  throw new Error(`The repository of project ${row.id} (${row.full_path}) is not on the storage ${row.storage}.`);
}

/** The refs first: objects are only ever added, so that those which the refs need are among what is copied afterwards. */
async function copy(archive: ArchiveWriter, repository: Repository, name: string, before: Refs): Promise<void> {
  const [refs, head] = [await allRefs(repository), await headBranch(repository)];
  const entry: RepositoryEntry = {
    head: head ?? null,
    object_format: await objectFormatOf(repository),
    refs: [...refs],
    moved: movedBetween(before, refs),
  };
  await archive.add(`${name}/repository.json`, JSON.stringify(entry));
  const copied = new Set<string>();
  for (let look = 0; look < looks; look++) {
    const missing = (await objectFiles(repository)).filter((file) => !copied.has(file));
    let isComplete = true;
    for (const file of missing) {
      if (await addFile(archive, `${name}/objects/${file}`, path.join(repository.path, 'objects', file))) copied.add(file);
      else isComplete = false;
    }
    if (isComplete) return;
  }
  throw new Error(`${repository.path} changes faster than it can be copied.`);
}

async function objectFormatOf(repository: Repository): Promise<RepositoryEntry['object_format']> {
  await using config = await open(path.join(repository.path, 'config'));
  return /objectformat\s*=\s*sha256/i.test(await config.readFile('utf8')) ? 'sha256' : 'sha1';
}

/** Branches and tags; the journal knows of no others. */
function movedBetween(before: Refs, after: Refs): RepositoryEntry['moved'] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names]
    .filter((ref) => /^refs\/(?:heads|tags)\//.test(ref))
    .map((ref) => ({ ref, old: before.get(ref) ?? null, new: after.get(ref) ?? null }))
    .filter((move) => move.old !== move.new);
}

/** @returns false when maintenance has removed it, because what it held is in another file now */
async function addFile(archive: ArchiveWriter, name: string, file: string): Promise<boolean> {
  let handle: Awaited<ReturnType<typeof open>>;
  try {
    handle = await open(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  const { size } = await handle.stat();
  await archive.addStream(name, size, handle.createReadStream());
  return true;
}
