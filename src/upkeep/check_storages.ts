/** Finds folders in the storages without an owner. */
import { mkdir, readdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { repositories } from '../areas/index.ts';
import type { Database } from '../db/index.ts';
import type { RepositoryKind } from '../services/index.ts';
import type { CheckOptions, Finding } from './finding.ts';
import { placeOf, rowsOfKind } from './repositories.ts';

/** A repository is created before its row, and deleted after it by a job that retries for hours. */
const abandoned_ms = 24 * 60 * 60_000;

/** The folders of a storage that contain repositories. */
interface Found {
  path: string;
  isOld: boolean;
}

/**
 * Repositories without an owner, incomplete ones, and second copies of repositories that are on another storage. Without an owner, those younger than a day are
 * still in progress; a second copy is, if it is recorded as one.
 */
export async function* checkStorages(options: CheckOptions): AsyncGenerator<Finding> {
  for (const [name, storage] of Object.entries(options.storages))
    for (const kind of repositories.kinds) {
      const found = await foldersIn(path.join(storage, kind.folder), options.signal);
      if (found.length > 0) yield* checkFolders(options, { kind, name, storage }, found);
    }
}

interface Searched {
  kind: RepositoryKind;
  /** The name of the storage. */
  name: string;
  /** Its folder. */
  storage: string;
}

async function* checkFolders(
  { db, storages }: CheckOptions,
  { kind, name, storage }: Searched,
  found: readonly Found[],
): AsyncGenerator<Finding> {
  // Read after the folders were listed, so that it includes every row of theirs.
  const rows = await rowsOfKind(db, kind);
  const recorded = await recordedCopies(db, kind, name);
  const owners = new Map(rows.map((row) => [placeOf(storages, { ...row, storage: name })?.path, row]));
  for (const { path: folder, isOld } of found) {
    const owner = owners.get(folder);
    if (owner?.storage === name || (owner ? recorded.has(owner.id) : !isOld)) continue;
    yield {
      sentence: owner
        ? `${folder} is a second copy of ${owner.full_path}, which is on the storage ${owner.storage}.`
        : `${folder} belongs to no ${kind.name}.`,
      repair: async () => `Moved to ${await setAside(storage, folder)}. Delete it when you are sure.`,
    };
  }
}

/** The ids of owners of which moves, or the job that removes repositories, know of a copy on a storage. */
async function recordedCopies(db: Database, { name }: RepositoryKind, storage: string): Promise<Set<number>> {
  const copies = db
    .selectFrom('unused_repositories')
    .select('id')
    .where('kind', '=', name)
    .where('storage', '=', storage);
  return new Set((await copies.execute()).map(({ id }) => id));
}

/** Repositories are three levels down. */
async function foldersIn(hashed: string, signal: AbortSignal): Promise<Found[]> {
  const folders: Found[] = [];
  for (const first of await namesIn(hashed)) {
    signal.throwIfAborted();
    for (const second of await namesIn(path.join(hashed, first)))
      for (const name of await namesIn(path.join(hashed, first, second))) {
        const folder = path.join(hashed, first, second, name);
        const found = await stat(folder).catch(() => undefined);
        if (found?.isDirectory()) folders.push({ path: folder, isOld: Date.now() - found.mtimeMs > abandoned_ms });
      }
  }
  return folders;
}

const namesIn = async (folder: string): Promise<string[]> => (await readdir(folder).catch(() => [])).sort();

/**
 * Moves a file or folder to `.unowned` in its storage. It is not deleted, since the database may be older than the files.
 * @param storage the folder of the storage that it is in
 * @returns where it is now
 */
async function setAside(storage: string, found: string): Promise<string> {
  const folder = path.join(storage, '.unowned', new Date().toISOString().slice(0, 10));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const place = path.join(folder, path.basename(found));
  await rename(found, place);
  return place;
}
