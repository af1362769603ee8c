/** The locations of the repositories of projects and snippets. */
import { hash } from 'node:crypto';
import path from 'node:path';
import type { Repository } from './types.ts';

/** Spread over folders, and independent of names, because these can change. */
function spread(top: string, id: number): string {
  const digest = hash('sha256', String(id));
  return `${top}/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`;
}

/** The folders of a storage that hold repositories, three levels down. */
export const repositoryFolders = ['@hashed', '@snippets'] as const;

/** The path of a project's repository in its storage, without `.git`. */
export const diskPath = (project_id: number): string => spread('@hashed', project_id);

/** A snippet as the owner of a repository. */
export interface SnippetPlace {
  snippet_id: number;
  storage: string;
}

/** What has a repository: a project or a snippet. */
export type RepositoryOwner = { id: number; storage: string; snippet_id?: never } | SnippetPlace;

/** The git storages by name, each an absolute folder. */
interface Storages {
  storages: Readonly<Record<string, string>>;
}

/**
 * The repository of a project or a snippet.
 * @throws Error when the configuration does not name the owner's storage
 */
export function repositoryOf({ storages }: Storages, owner: RepositoryOwner): Repository {
  const [name, place] =
    owner.snippet_id === undefined
      ? [`project ${owner.id}`, diskPath(owner.id)]
      : [`snippet ${owner.snippet_id}`, spread('@snippets', owner.snippet_id)];
  const storage = storages[owner.storage];
  if (storage === undefined) throw new Error(`${name} is on the storage ${owner.storage}, which is not configured`);
  return { path: path.join(storage, `${place}.git`) };
}
