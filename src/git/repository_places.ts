/** The locations of repositories. */
import { hash } from 'node:crypto';
import path from 'node:path';
import type { Repository } from './types.ts';

/** Spread over folders, and independent of names, because these can change. */
function spread(top: RepositoryFolder, id: number): string {
  const digest = hash('sha256', String(id));
  return `${top}/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`;
}

/** A folder of a storage that holds repositories, three levels down: that of projects, and those of other kinds of owners. */
export type RepositoryFolder = `@${string}`;

const folderOfProjects: RepositoryFolder = '@hashed';

/** The path of a project's repository in its storage, without `.git`. */
export const diskPath = (project_id: number): string => spread(folderOfProjects, project_id);

/** What says where a repository is: the row of its owner, with the folder of its kind if it is not a project. */
export interface RepositoryPlace {
  id: number;
  storage: string;
  folder?: RepositoryFolder;
}

/** The git storages by name, each an absolute folder. */
interface Storages {
  storages: Readonly<Record<string, string>>;
}

/**
 * The repository of an owner.
 * @throws Error when the configuration does not name its storage
 */
export function repositoryOf({ storages }: Storages, { id, storage, folder = folderOfProjects }: RepositoryPlace): Repository {
  const top = storages[storage];
  if (top === undefined)
    throw new Error(`the repository ${id} in ${folder} is on the storage ${storage}, which is not configured`);
  return { path: path.join(top, `${spread(folder, id)}.git`) };
}
