/** Stale lock files of writers that died. git never deletes them, and refuses to update the ref while they exist. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repository } from './types.ts';

/** git holds the lock of a ref for milliseconds; one that is this old has no holder. */
const stale_ms = 10 * 60_000;

/**
 * Removes the locks on refs that have no holder any more.
 * @param before those last changed before this moment
 * @returns their number
 */
export async function removeStaleLocks(repository: Repository, before = new Date(Date.now() - stale_ms)): Promise<number> {
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
  const removed = await Promise.all(
    locks.map((name) => removeIfOlder(join(repository.path, name), Date.now() - before.getTime())),
  );
  return removed.filter(Boolean).length;
}

/** Removes a file or folder that was last changed longer than `age_ms` ago, and says whether it did. A missing one is no error. */
export async function removeIfOlder(path: string, age_ms: number): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (!found || Date.now() - found.mtimeMs < age_ms) return false;
  await rm(path, { recursive: true, force: true });
  return true;
}
