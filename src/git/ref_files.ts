/** Refs as files, by git's own rules (gitrepository-layout, git-pack-refs): a file of its own shadows the line in `packed-refs`. */
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { objectHeader } from './readers.ts';
import { isValidBranchName, isValidTagName } from './ref_names.ts';
import type { Repository } from './types.ts';

/**
 * Moves a branch or tag that exists, without a process. It holds git's lock on the ref meanwhile, so git and other processes of ours wait for it and it for them.
 * @returns false when nothing has moved and git has to say why, or do it: the ref is elsewhere, locked, symbolic or kept otherwise than in files
 */
export async function moveRefFile(repository: Repository, ref: string, old: string, target: string): Promise<boolean> {
  if (!isMovable(ref) || (await objectHeader(repository, target))?.type !== 'commit') return false;
  const folder = await moved(repository, { ref, old, target });
  if (!folder) return false;
  // As with files of objects: what a client was told is there must be there after a power failure.
  await folder.sync().finally(() => folder.close());
  return true;
}

/** The folder of the ref once it has moved. It is opened while the lock keeps it there: afterwards git may pack the ref and remove its folder. */
async function moved(
  repository: Repository,
  { ref, old, target }: { ref: string; old: string; target: string },
): Promise<FileHandle | undefined> {
  const path = join(repository.path, ref);
  const lock = `${path}.lock`;
  let folder: FileHandle | undefined;
  try {
    await mkdir(dirname(path), { recursive: true });
    await using file = await open(lock, 'wx');
    try {
      folder = await open(dirname(path));
      if ((await readRefFile(repository, ref)) !== old) throw new Error(`${ref} is elsewhere`);
      await file.writeFile(`${target}\n`);
      await file.sync();
      await rename(lock, path);
      return folder;
    } catch (error) {
      await rm(lock, { force: true });
      throw error;
    }
  } catch {
    await folder?.close();
    return undefined;
  }
}

function isMovable(ref: string): boolean {
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  return kind === 'heads' ? isValidBranchName(name) : kind === 'tags' && isValidTagName(name);
}

/** The id that a ref has; undefined when it has none, or is symbolic. */
async function readRefFile({ path }: Repository, ref: string): Promise<string | undefined> {
  const content = await readFile(join(path, ref), 'latin1').catch(unlessMissing);
  if (content !== undefined) return /^([0-9a-f]{40,64})\n?$/.exec(content)?.[1];
  const packed = await readFile(join(path, 'packed-refs'), 'utf8').catch(unlessMissing);
  const at = packed?.indexOf(` ${ref}\n`) ?? -1;
  return at < 0 ? undefined : packed!.slice(packed!.lastIndexOf('\n', at) + 1, at);
}

/** A folder may be left where a ref was below the name of this one. */
function unlessMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'EISDIR') throw error;
}
