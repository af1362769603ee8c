/** Checks the folders of a server before it listens. */
import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import type { Config } from '../config.ts';
import type { Database } from '../db/index.ts';
import { fileSystemProblems } from '../upkeep/check_file_system.ts';
import { OperatorError } from './command.ts';
import { fileReason } from './reasons.ts';

/**
 * Makes the folders of the storages and of the blobs that are missing, and checks that each is writable.
 * @throws OperatorError when one cannot be used
 */
export async function makeFolders({ storages, blobs }: Config): Promise<void> {
  for (const { name, path } of storages) await makeFolder(path, `the storage ${name}`);
  if (blobs.kind === 'folder') await makeFolder(blobs.path, 'COPPICE_BLOBS');
}

/** How often each trial is made at a start. */
const trials = 10;

/**
 * Refuses storages on file systems that do not do what git needs. The folders of a server with the embedded database are on its own machine.
 * @throws OperatorError
 */
export async function refuseUnfitStorages({ storages, databaseUrl }: Config): Promise<void> {
  if (databaseUrl === undefined) return;
  for (const { name, path: folder } of storages) {
    const problems = await fileSystemProblems({ folder, times: trials });
    if (problems.length > 0) throw new OperatorError(`The storage ${name} cannot be used. ${problems.join(' ')}`);
  }
}

async function makeFolder(path: string, purpose: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new OperatorError(
      `The folder of ${purpose} cannot be used. ${fileReason(error) ?? (error as Error).message}`,
    );
  }
}

/**
 * Refuses to start if repositories would not be found.
 * @throws OperatorError when repositories are in a storage that the configuration does not name
 */
export async function refuseLostStorages({ storages }: Config, db: Database): Promise<void> {
  const names = storages.map(({ name }) => name);
  const lost = await db
    .selectFrom('projects')
    .select('storage')
    .where('storage', 'not in', names)
    .union(db.selectFrom('snippets').select('storage').where('storage', 'not in', names))
    .orderBy('storage')
    .execute();
  if (lost.length === 0) return;
  const list = lost.map(({ storage }) => storage).join(', ');
  throw new OperatorError(
    `Repositories are in storages that COPPICE_STORAGES does not name: ${list}. Add each with its folder, like ${lost[0]!.storage}=/srv/repositories.`,
  );
}
