/** The locations of repositories. */
import { hash } from 'node:crypto';
import path from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Repository } from './types.ts';

/** Spread over folders, and independent of names, because these can change. */
function spread(top: RepositoryFolder, id: number): string {
  const digest = hash('sha256', String(id));
  return `${top}/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`;
}

/** A folder of a storage that contains repositories, three levels down: of projects, and of other kinds of owners. */
export type RepositoryFolder = `@${string}`;

const folderOfProjects: RepositoryFolder = '@hashed';

/** The path of a project's repository in its storage, without `.git`. */
export const diskPath = (project_id: number): string => spread(folderOfProjects, project_id);

/** The columns that locate a repository: the row of its owner, with the folder of its kind if it is not a project. */
export interface RepositoryPlace {
  id: number;
  storage: string;
  folder?: RepositoryFolder;
}

/**
 * The new locations of repositories that have just changed their storage, by their old path. A caller that read the row before the move uses the new location with
 * its next operation. A repository does not return to a storage while it may be listed here (docs/reference/storage_moves.md#readers).
 */
const moved = new LRUCache<string, string>({ max: 50_000 });

/**
 * Records the new location of a repository.
 * @param from with the storage that it was on
 * @param storage its new storage
 * @param left_ms how long the old path is redirected to the new one
 */
export function learnMove(services: Storages, from: RepositoryPlace, storage: string, left_ms: number): void {
  const [old, now] = [placeOf(services, from), placeOf(services, { ...from, storage })];
  if (moved.get(old) === now) return;
  moved.delete(now);
  moved.set(old, now, { ttl: left_ms });
}

function placeNow(path: string): string {
  let now = path;
  for (let next = moved.get(now); next !== undefined; next = moved.get(now)) now = next;
  return now;
}

/** The git storages by name, each an absolute folder. */
interface Storages {
  storages: Readonly<Record<string, string>>;
}

/**
 * The path of the repository of an owner on the given storage, even if it is on another one now.
 * @throws Error when the configuration does not name the storage
 */
export function placeOf({ storages }: Storages, { id, storage, folder = folderOfProjects }: RepositoryPlace): string {
  const top = storages[storage];
  if (top === undefined)
    throw new Error(`the repository ${id} in ${folder} is on the storage ${storage}, which is not configured`);
  return path.join(top, `${spread(folder, id)}.git`);
}

/**
 * The repository of an owner. Its path is looked up at each use, since it may change its storage while a caller holds this object.
 * @throws Error when the configuration does not name the storage
 */
export function repositoryOf(services: Storages, place: RepositoryPlace): Repository {
  const known = placeOf(services, place);
  return {
    get path() {
      return placeNow(known);
    },
  };
}
