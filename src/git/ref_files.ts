/** Writes refs as files, by git's own rules (gitrepository-layout, git-pack-refs). */
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { objectHeader } from './readers.ts';
import { isValidBranchName, isValidTagName } from './ref_names.ts';
import { isBesidePacked, isBroken, looseRef, packedRef } from './ref_store.ts';
import type { Repository } from './types.ts';

interface Target {
  ref: string;
  /** Null: the ref must not exist. */
  old: string | null;
  target: string;
}

/**
 * Creates or moves a branch or tag, without a process. It holds git's lock on the ref meanwhile, so it excludes git and our other processes.
 * @returns false when nothing has moved and git must report why, or do the update: the ref has another value, is locked, symbolic, in conflict or not stored in
 * files
 */
export async function writeRefFile(repository: Repository, change: Target): Promise<boolean> {
  if (!(await isWritable(repository, change))) return false;
  const folders = await written(repository, change);
  if (!folders) return false;
  // As for object files: a confirmed update must survive a power failure.
  try {
    for (const folder of folders) await folder.sync();
  } finally {
    for (const folder of folders) await folder.close();
  }
  return true;
}

/** git, too, only lets a branch point to a commit. */
async function isWritable(repository: Repository, { ref, target }: Target): Promise<boolean> {
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/s.exec(ref) ?? [];
  const isValid = kind === 'heads' ? isValidBranchName(name) : kind === 'tags' && isValidTagName(name);
  const type = isValid ? (await objectHeader(repository, target))?.type : undefined;
  return type === 'commit' || (type === 'tag' && kind === 'tags');
}

/** The folders that change with the ref. They are opened while the lock keeps them in place: afterwards git may pack the ref and remove them. */
async function written(repository: Repository, { ref, old, target }: Target): Promise<FileHandle[] | undefined> {
  const path = join(repository.path, ref);
  const lock = `${path}.lock`;
  const folders: FileHandle[] = [];
  try {
    const made = await mkdir(dirname(path), { recursive: true });
    await using file = await open(lock, 'wx');
    try {
      for (const folder of changedFolders(dirname(path), made)) folders.push(await open(folder));
      if ((await currentTarget(repository, ref)) !== old) throw new Error(`${ref} is elsewhere`);
      if (old === null && (await isBesidePacked(repository, ref))) throw new Error(`${ref} is in conflict`);
      await file.writeFile(`${target}\n`);
      await file.sync();
      // Fails where the ref would take the place of a folder.
      await rename(lock, path);
      return folders;
    } catch (error) {
      await rm(lock, { force: true });
      throw error;
    }
  } catch {
    for (const folder of folders) await folder.close();
    return undefined;
  }
}

/** Removes the file of a ref when it holds no id, as power loss may leave it: git refuses to create the ref anew while the file is there. */
export async function clearBrokenRef(repository: Repository, ref: string): Promise<void> {
  const path = join(repository.path, ref);
  if (looseRef(repository, ref) !== undefined) return;
  const lock = `${path}.lock`;
  await using _held = await open(lock, 'wx');
  try {
    if (looseRef(repository, ref) === undefined) await rm(path, { force: true });
  } finally {
    await rm(lock, { force: true });
  }
}

/** The refs whose files hold no id, as power loss may leave them. They are read as if they did not exist. */
export async function brokenRefs(repository: Repository): Promise<string[]> {
  const entries = await readdir(join(repository.path, 'refs'), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.lock'))
    .map((entry) => relative(repository.path, join(entry.parentPath, entry.name)))
    .filter((ref) => isBroken(repository, ref))
    .sort();
}

/** The folder of a ref, and its ancestors up to the one in which the first new folder was created. */
function* changedFolders(folder: string, made: string | undefined): Generator<string> {
  yield folder;
  if (made === undefined) return;
  for (let above = folder; above !== made; above = dirname(above)) yield dirname(above);
  yield dirname(made);
}

/** The id that a ref has, null when it has none; undefined when it is symbolic or broken. */
async function currentTarget(repository: Repository, ref: string): Promise<string | null | undefined> {
  const own = looseRef(repository, ref);
  return own === 'missing' ? ((await packedRef(repository, ref)) ?? null) : own;
}
