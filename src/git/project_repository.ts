/** The location of a project's repository. */
import { hash } from 'node:crypto';
import path from 'node:path';
import type { Repository } from './types.ts';

/** The path of a project's repository in its storage: spread over folders, and independent of names, because these can change. */
export function diskPath(project_id: number): string {
  const digest = hash('sha256', String(project_id));
  return `@hashed/${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest}`;
}

/** The git storages by name, each an absolute folder. */
interface Storages {
  storages: Readonly<Record<string, string>>;
}

/**
 * The repository of a project.
 * @throws Error when the configuration does not name the project's storage
 */
export function repositoryOf({ storages }: Storages, project: { id: number; storage: string }): Repository {
  const storage = storages[project.storage];
  if (storage === undefined)
    throw new Error(`project ${project.id} is on the storage ${project.storage}, which is not configured`);
  return { path: path.join(storage, `${diskPath(project.id)}.git`) };
}
