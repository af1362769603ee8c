/**
 * Restoring one repository or one blob into an installation that has lost it, whose server may be running. Nothing that is there is removed: objects are added, and
 * only refs that lead nowhere are set.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type BlobKey, type Blobs, keyAtPath, type ReceivedBlob } from '../blobs/index.ts';
import type { Database } from '../db/index.ts';
import {
  closeReaders,
  createRepository,
  fsck,
  hasConfig,
  headBranch,
  objectFilePattern,
  objectFiles,
  type Repository,
  replaceConfig,
  replaceHead,
} from '../git/index.ts';
import { fingerprintOf } from '../secrets/index.ts';
import { type Services, type ServicesConfig, secretsOf } from '../services/index.ts';
import { counted } from '../texts/index.ts';
import { type ArchiveEntry, jsonOf, readArchive, syncToDisk } from './archive.ts';
import type { RepositoryEntry } from './backup.ts';
import { ownerOf } from './blob_references.ts';
import { takeSnapshot } from './database_dump.ts';
import { nameOf, placeOf, type RepositoryRow, repositoryAt } from './repositories.ts';
import { beginRepository, RestoreError, readManifest, write } from './restore.ts';
import { type Restored, restoreRefs } from './restore_refs.ts';

export interface OneOptions {
  services: Services;
  connectionString: string;
  config: ServicesConfig;
  /** The backup. */
  file: string;
  /** The path of a repository, or the key of a blob, as `check` prints it. */
  path: string;
  signal: AbortSignal;
}

/**
 * Restores one repository or blob. The whole backup is read before anything becomes visible, because its checksum is at its end.
 * @throws RestoreError or ArchiveError when nothing was restored
 */
export async function restoreOne(options: OneOptions): Promise<Restored> {
  const { services, connectionString, path: wanted } = options;
  const row = await repositoryAt(services.db, wanted);
  if (row) return await restoreRepository(options, row);
  const key = keyOf(services.blobs, wanted);
  if (key === undefined)
    throw new RestoreError(
      `There is no project, snippet or wiki ${wanted}, and it is not the place of a file below ${services.blobs.address}.`,
    );
  const snapshot = await takeSnapshot(connectionString);
  const owner = await ownerOf(snapshot.client, key).finally(() => snapshot.end());
  if (owner === undefined) throw new RestoreError(`Nothing in the database refers to ${wanted}.`);
  return await restoreBlob(options, key);
}

/** @param place as the store names it, or only what follows its address */
function keyOf(blobs: Blobs, place: string): BlobKey | undefined {
  const prefix = `${blobs.address}/`;
  return keyAtPath(place.startsWith(prefix) ? place.slice(prefix.length) : place);
}

/**
 * Reads the backup to its end.
 * @param take receives each entry; the rest of an entry that it does not read is skipped
 */
async function readAll(
  { file, config, signal }: OneOptions,
  take: (entry: ArchiveEntry) => Promise<void>,
): Promise<void> {
  const entries = readArchive(file);
  const { secret_fingerprint } = await readManifest(entries, file);
  // The numbers of projects mean nothing elsewhere.
  if (secret_fingerprint !== undefined && secret_fingerprint !== fingerprintOf(secretsOf(config)).toString('hex'))
    throw new RestoreError('The backup is of another server, or was made with another secret key.');
  for await (const entry of entries) {
    signal.throwIfAborted();
    await take(entry);
    for await (const _skipped of entry.content);
  }
}

async function restoreBlob(options: OneOptions, key: BlobKey): Promise<Restored> {
  const { blobs, db } = options.services;
  let received: ReceivedBlob | undefined;
  try {
    await readAll(options, async ({ name, size_bytes, content }) => {
      if (name.startsWith('blobs/') && keyAtPath(name.slice('blobs/'.length)) === key)
        received = await blobs.receive(key, Readable.from(content), { at_most_bytes: size_bytes });
    });
    if (!received) throw new RestoreError(`The backup has no file ${key}.`);
    const digest = await digestOf(db, key);
    if (digest !== undefined && digest !== received.sha256)
      throw new RestoreError(`The file ${key} is damaged in the backup, too.`);
    await received.keep();
    return { done: [`${blobs.placeOf(key)} is restored, with ${counted(received.size_bytes, 'byte')}.`], lost: [] };
  } finally {
    await received?.discard();
  }
}

/** The SHA-256 of a blob, where it is known. */
async function digestOf(db: Database, key: BlobKey): Promise<string | undefined> {
  if (key.startsWith('lfs/')) return key.slice('lfs/'.length);
  return (await db.selectFrom('uploads').select('sha256').where('blob_key', '=', key).limit(1).executeTakeFirst())
    ?.sha256;
}

async function restoreRepository(options: OneOptions, row: RepositoryRow): Promise<Restored> {
  const { services, signal } = options;
  const place = placeOf(services.storages, row);
  if (!place) throw new RestoreError(`The storage ${row.storage} is not in COPPICE_STORAGES.`);
  // Beside it, so that files are moved within a file system. What a killed restore leaves is found by `check`.
  const draft: Repository = { path: `${place.path}.restored-${randomUUID()}` };
  try {
    const entry = await unpack(options, row, draft);
    const [damage] = await fsck(draft, signal);
    signal.throwIfAborted();
    if (damage !== undefined) throw new RestoreError(`The repository is damaged in the backup, too: ${damage}.`);
    await makeUsable(place, row, entry);
    await addObjects(draft, place);
    await closeReaders(place);
    const { done, lost } = await restoreRefs(services, row, place, new Map(entry.refs));
    const younger = (await fsck(place, signal)).map((line) => `The repository is still damaged: ${line}`);
    return { done: [`The objects of ${row.full_path} are restored.`, ...done], lost: [...lost, ...younger] };
  } finally {
    await closeReaders(draft);
    await rm(draft.path, { recursive: true, force: true });
  }
}

async function unpack(options: OneOptions, row: RepositoryRow, draft: Repository): Promise<RepositoryEntry> {
  const folder = `${nameOf(row)}/`;
  let header: RepositoryEntry | undefined;
  await readAll(options, async ({ name, content }) => {
    if (!name.startsWith(folder)) return;
    const below = name.slice(folder.length);
    const object = below.replace(/^objects\//, '');
    if (below === 'repository.json') {
      header = await jsonOf<RepositoryEntry>(content, name);
      // It is there a second time if the repository changed its storage while it was copied.
      await rm(draft.path, { recursive: true, force: true });
      await beginRepository(header, draft, row.default_branch);
    } else if (header && objectFilePattern.test(object))
      await write(path.join(draft.path, 'objects', object), content, 0o444);
  });
  if (!header) throw new RestoreError(`The backup has no repository of ${row.full_path}.`);
  return header;
}

/** Makes what git needs to take a folder for a repository, where it is missing or damaged. */
async function makeUsable(place: Repository, row: RepositoryRow, { object_format }: RepositoryEntry): Promise<void> {
  if (!(await stat(place.path).catch(() => undefined))) {
    await createRepository(place.path, { defaultBranch: row.default_branch, objectFormat: object_format });
    return;
  }
  for (const folder of ['objects/pack', 'refs/heads', 'refs/tags'])
    await mkdir(path.join(place.path, folder), { recursive: true });
  if (!(await hasConfig(place))) await replaceConfig(place, object_format);
  await headBranch(place).catch(() => replaceHead(place, row.default_branch));
}

/** Files of the same name have the same content, or are damaged. The index of a pack comes last: without it, git does not see the pack. */
async function addObjects(from: Repository, to: Repository): Promise<void> {
  const names = (await objectFiles(from)).toSorted(
    (one, other) => Number(one.endsWith('.idx')) - Number(other.endsWith('.idx')),
  );
  const folders = new Set<string>();
  for (const name of names) {
    const target = path.join(to.path, 'objects', name);
    const folder = path.dirname(target);
    if (!folders.has(folder)) await mkdir(folder, { recursive: true });
    folders.add(folder);
    await rename(path.join(from.path, 'objects', name), target);
  }
  for (const folder of [...folders, path.join(to.path, 'objects')]) await syncToDisk(folder);
}
