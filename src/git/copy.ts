/** Filling a repository with what another holds, so that neither needs the other afterwards. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { git } from './command.ts';
import type { Repository } from './types.ts';

const longest_copy_ms = 6 * 60 * 60_000;

/** What is complete once it has its name and never changes: packs with what belongs to them, and objects on their own. */
const isObject = /^(?:pack-[0-9a-f]+\.(?:pack|idx|rev|bitmap)|[0-9a-f]{38}|[0-9a-f]{62})$/;

/**
 * Copies the branches and tags of `source` into `target`, which is empty or was begun by an earlier run.
 * A copy of everything shares the files of the objects where the file system lets it, so that it takes neither time nor room. git then looks whether they
 * are complete, and fetches what is missing: what was packed anew in the meantime, or everything on another file system that refuses.
 * @param branches names of the branches to take; left out, all of them with all tags
 * @param signal stops the copy
 * @throws GitError; what has been copied stays and is harmless
 */
export async function copyRepository(
  source: Repository,
  target: Repository,
  { branches, signal }: { branches?: readonly string[] | undefined; signal?: AbortSignal } = {},
): Promise<void> {
  // Objects of other branches stay behind where only some are asked for.
  if (!branches) await shareObjects(source, target, signal);
  const refspecs = branches
    ? branches.map((name) => `+refs/heads/${name}:refs/heads/${name}`)
    : ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*'];
  const options = [
    '--quiet',
    '--atomic',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    ...(branches ? (['--no-tags'] as const) : []),
  ] as const;
  await git(target, 'fetch', options, [source.path, ...refspecs], [], {
    timeout_ms: longest_copy_ms,
    ...(signal ? { signal } : {}),
  });
}

async function shareObjects(source: Repository, target: Repository, signal: AbortSignal | undefined): Promise<void> {
  const objects = join(source.path, 'objects');
  for (const folder of await readdir(objects)) {
    if (!/^(?:[0-9a-f]{2}|pack)$/.test(folder)) continue;
    await mkdir(join(target.path, 'objects', folder), { recursive: true });
    const names = (await readdir(join(objects, folder))).filter((name) => isObject.test(name));
    // The index last: git takes a pack for complete when it has one.
    for (const name of names.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))) {
      signal?.throwIfAborted();
      await shareFile(join(objects, folder, name), join(target.path, 'objects', folder, name));
    }
    await using handle = await open(join(target.path, 'objects', folder), 'r');
    await handle.sync();
  }
}

/** Links a file, or copies it where it cannot be linked. */
async function shareFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // There already from an earlier run, or packed anew in the source a moment ago.
    if (code === 'EEXIST' || code === 'ENOENT') return;
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'EMLINK') throw error;
    await copyWhole(from, to);
  }
}

/** A copy has its name only when it is complete, so that a later run may trust what it finds. Maintenance removes drafts that were left. */
async function copyWhole(from: string, to: string): Promise<void> {
  const draft = join(dirname(to), `tmp_copy_${randomUUID()}`);
  await copyFile(from, draft, constants.COPYFILE_FICLONE);
  {
    await using handle = await open(draft, 'r');
    await handle.sync();
  }
  await rename(draft, to);
}
