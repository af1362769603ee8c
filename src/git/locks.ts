/** Stale lock files of writers that died. git never deletes them, and refuses to update the ref while they exist. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from './command.ts';
import type { Repository } from './types.ts';

/** git holds the lock of a ref for milliseconds; a lock of this age has no holder. */
const stale_ms = 10 * 60_000;

/** The number of retries of a job that sets refs: with the growing delays of the queue they last for days, longer than a lock takes to become stale. */
export const refRetries = 20;

/**
 * Runs a git command that locks refs. If it fails because of stale locks, these are removed and it runs once more.
 * @throws what `run` throws
 */
export async function pastStaleLocks(repository: Repository, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof GitError) || (await removeStaleLocks(repository)) === 0) throw error;
    await run();
  }
}

/**
 * The paths of stale locks on refs.
 * @param before locks last changed before this moment are stale
 */
export async function staleLocks(repository: Repository, before = new Date(Date.now() - stale_ms)): Promise<string[]> {
  // Ref folders come and go while they are read; a caller that meets a lock calls this again.
  const below_refs = await readdir(join(repository.path, 'refs'), { recursive: true }).catch(() => []);
  const names = [
    ...below_refs.map((name) => join('refs', name)),
    'packed-refs.lock',
    'packed-refs.new',
    'HEAD.lock',
    'config.lock',
  ];
  // A ref's own name cannot end in .lock, so this finds no ref.
  const locks = names.filter((name) => name.endsWith('.lock') || name === 'packed-refs.new');
  const paths = locks.map((name) => join(repository.path, name));
  const areStale = await Promise.all(paths.map((path) => isOlder(path, before)));
  return paths.filter((_, index) => areStale[index]);
}

/**
 * Removes the locks that `staleLocks` finds.
 * @returns their number
 */
export async function removeStaleLocks(repository: Repository, before?: Date): Promise<number> {
  const locks = await staleLocks(repository, before);
  await Promise.all(locks.map((path) => rm(path, { force: true })));
  return locks.length;
}

/** Removes a file or folder that was last changed longer than `age_ms` ago. A missing one is no error. */
export async function removeIfOlder(path: string, age_ms: number): Promise<void> {
  if (await isOlder(path, new Date(Date.now() - age_ms))) await rm(path, { recursive: true, force: true });
}

async function isOlder(path: string, before: Date): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && found.mtimeMs <= before.getTime();
}
