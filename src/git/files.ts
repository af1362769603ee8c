/** Files and folders of a commit. Paths are data: a path names entries of trees and is never resolved in a file system. */
import type { Readable } from 'node:stream';
import { gitStream, type Streaming } from './command.ts';
import { readCommit } from './commits.ts';
import { fullId, isFullId } from './ids.ts';
import { objectHeader, storedObject } from './readers.ts';
import { tree_mode } from './tree.ts';
import { entryOf, rawName, treeWith } from './trees.ts';
import type { Repository, TreeEntry } from './types.ts';

const maximumBlob = 128 * 1024 * 1024;

/**
 * The entry at a path of a commit, undefined when there is none. The empty path is the commit's root tree, with an empty name.
 * Symbolic links and submodules are not followed; no entry is named `..` or `.`.
 */
export async function entryAt(repository: Repository, commit: string, path: string): Promise<TreeEntry | undefined> {
  const { tree_id } = await readCommit(repository, commit);
  let entry: TreeEntry = { name: '', id: tree_id, mode: tree_mode, type: 'tree' };
  if (path === '') return entry;
  for (const name of path.split('/')) {
    if (entry.type !== 'tree') return undefined;
    const raw_name = rawName(name);
    const found = (await treeWith(repository, entry.id)).get(raw_name);
    if (!found) return undefined;
    entry = entryOf(raw_name, found);
  }
  return entry;
}

/** The complete content of a blob. Throws when there is no such blob or it has more than `limit` bytes (128 MiB). */
export async function readBlob(repository: Repository, id: string, limit = maximumBlob): Promise<Buffer> {
  const size_bytes = await blobSize(repository, id);
  if (size_bytes > limit) throw new RangeError(`blob ${id} has ${size_bytes} bytes, more than ${limit}`);
  const object = await storedObject(repository, id);
  if (!object) throw new Error(`${id} is not a blob of ${repository.path}`);
  return object.content;
}

/** Bytes in a blob. Throws when the repository has no such blob. */
export async function blobSize(repository: Repository, id: string): Promise<number> {
  const header = await objectHeader(repository, fullId(id));
  if (header?.type !== 'blob') throw new Error(`${id} is not a blob of ${repository.path}`);
  return header.size_bytes;
}

/** Bytes in the blob with this id, undefined when there is no such blob or the text is not a full id. */
export async function findBlob(repository: Repository, id: string): Promise<number | undefined> {
  if (!isFullId(id)) return undefined;
  const header = await objectHeader(repository, id);
  return header?.type === 'blob' ? header.size_bytes : undefined;
}

/** The content of a blob as a stream of constant memory, however large it is. A missing blob ends the stream with `GitError`. */
export const streamBlob = (repository: Repository, id: string, how: Pick<Streaming, 'reader' | 'signal'>): Readable =>
  gitStream(repository, 'cat-file', [], ['blob', fullId(id)], [], how);
