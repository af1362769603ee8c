/** Copying a repository into another one, so that the two are independent afterwards. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../foundation/durable_names.ts';
import { GitError, git } from './command.ts';
import { headBranch } from './copies.ts';
import { createRepository, hasConfig, objectFormatOf, setHead } from './repository.ts';
import type { Repository } from './types.ts';

const maximumCopy_ms = 6 * 60 * 60_000;

/** Files that are complete once they have their name and never change: packs with their indexes, and loose objects. */
const isObject = /^(?:pack-[0-9a-f]+\.(?:pack|idx|rev|bitmap)|[0-9a-f]{38}|[0-9a-f]{62})$/;

/**
 * Copies the branches and tags of `source` into `target`, which is empty or was begun by an earlier run.
 * A full copy hard-links the object files if the file system allows it, which takes neither time nor space. git then checks that they are complete, and
 * fetches what is missing: objects repacked in the meantime, or everything if linking is impossible.
 * @param branches names of the branches to copy; by default all of them and all tags
 * @param signal stops the copy
 * @throws GitError; files copied until then stay and are harmless
 */
export async function copyRepository(
  source: Repository,
  target: Repository,
  { branches, signal }: { branches?: readonly string[] | undefined; signal?: AbortSignal } = {},
): Promise<void> {
  // Sharing would also bring the objects of branches that were not requested.
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
    timeout_ms: maximumCopy_ms,
    ...(signal ? { signal } : {}),
  });
}

/**
 * Copies a repository to an unused path: all refs, including refs hidden from clients, HEAD and the object format, with the settings of a new repository. Called
 * again, it brings a copy up to date.
 * @param copy becomes a repository with its first call
 * @throws GitError when the source cannot be read
 */
export async function duplicate(source: Repository, copy: Repository, signal: AbortSignal): Promise<void> {
  const objectFormat = await objectFormatOf(source);
  const defaultBranch = await headBranch(source);
  if (defaultBranch === undefined) throw new GitError('symbolic-ref', null, 'HEAD points to no branch');
  if (await hasConfig(copy)) await setHead(copy, defaultBranch);
  else await createRepository(copy.path, { defaultBranch, objectFormat });
  // Objects are only added, so the objects that the refs need exist once the refs have been read.
  await copyRefs(source, copy);
  await shareObjects(source, copy, signal);
  await git(copy, 'pack-refs', ['--all'], [], [], { timeout_ms: maximumCopy_ms, signal });
  await syncFolder(copy.path);
}

/** More than a repository with a million refs needs. */
const maximumRefs_bytes = 256 * 1024 * 1024;

/** Compared by their bytes, which need not be text. */
async function copyRefs(source: Repository, copy: Repository): Promise<void> {
  const run = { limit: maximumRefs_bytes, timeout_ms: maximumCopy_ms };
  const refs = await git(source, 'for-each-ref', ['--format=%(objectname) %(refname)'], [], [], run);
  await writeFile(join(copy.path, 'packed-refs'), Buffer.concat([Buffer.from('# pack-refs with: sorted \n'), refs]));
}

/**
 * Adds the object files of another repository to a repository, as hard links where possible, and waits until they are on the disk.
 * @param signal stops it
 */
export async function shareObjects(
  source: Repository,
  target: Repository,
  signal: AbortSignal | undefined,
): Promise<void> {
  const objects = join(source.path, 'objects');
  for (const folder of await readdir(objects)) {
    if (!/^(?:[0-9a-f]{2}|pack)$/.test(folder)) continue;
    await mkdir(join(target.path, 'objects', folder), { recursive: true });
    const names = (await readdir(join(objects, folder))).filter((name) => isObject.test(name));
    // The index comes last: git considers a pack complete when it has one.
    for (const name of names.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx')))) {
      signal?.throwIfAborted();
      await shareFile(join(objects, folder, name), join(target.path, 'objects', folder, name));
    }
    await syncFolder(join(target.path, 'objects', folder));
  }
  await syncFolder(join(target.path, 'objects'));
}

/** Links a file, or copies it if it cannot be linked. */
async function shareFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // The file exists from an earlier run, or was just repacked in the source.
    if (code === 'EEXIST' || code === 'ENOENT') return;
    if (code !== 'EXDEV' && code !== 'EPERM' && code !== 'EMLINK') throw error;
    await copyWhole(from, to);
  }
}

/** A copy gets its final name only when it is complete, so that a later run can trust it. Maintenance deletes abandoned drafts. */
async function copyWhole(from: string, to: string): Promise<void> {
  const draft = join(dirname(to), `tmp_copy_${randomUUID()}`);
  await copyFile(from, draft, constants.COPYFILE_FICLONE);
  {
    await using handle = await open(draft, 'r');
    await handle.sync();
  }
  await rename(draft, to);
}
