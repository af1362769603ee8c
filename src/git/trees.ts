/** Cached trees: the tree with an id never changes. */
import { LRUCache } from 'lru-cache';
import { fullId } from './ids.ts';
import { storedObject } from './readers.ts';
import { type RawEntry, Tree, typeOf } from './tree.ts';
import type { Repository, TreeEntry } from './types.ts';

/** A path component as the raw name of an entry. */
export const rawName = (name: string): string => Buffer.from(name, 'utf8').toString('latin1');
/** The text of a raw name; bytes that are not UTF-8 are replaced. */
export const textOf = (raw_name: string): string => Buffer.from(raw_name, 'latin1').toString('utf8');

/** The overhead of the objects around the bytes of a tree. */
const overhead_bytes = 600;

const trees = new LRUCache<string, Tree>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: (tree, key) => key.length + overhead_bytes + tree.size_bytes,
});

const keyOf = (repository: Repository, id: string): string => `${repository.path}\0${fullId(id)}`;

/** Whether the tree with this id is cached. */
export const isTreeKept = (repository: Repository, id: string): boolean => trees.has(keyOf(repository, id));

/** Caches a tree that has just been stored. */
export async function keepTree(repository: Repository, id: string, content: Buffer): Promise<void> {
  await kept(keyOf(repository, id), content, id);
}

/** The tree with this id. Throws when the repository has none. */
export async function treeWith(repository: Repository, id: string): Promise<Tree> {
  const key = keyOf(repository, id);
  const known = trees.get(key);
  if (known) return known;
  const object = await storedObject(repository, id);
  if (object?.type !== 'tree') throw new Error(`${id} is not a tree of ${repository.path}`);
  return kept(key, object.content, id);
}

async function kept(key: string, content: Buffer, id: string): Promise<Tree> {
  const tree = await Tree.of(ownBytes(content), id.length / 2);
  trees.set(key, tree);
  return tree;
}

/** Node cuts small buffers from shared slabs, and a cached buffer would keep its whole slab alive. */
function ownBytes(content: Buffer): Buffer {
  if (content.length >= Buffer.poolSize / 2) return content;
  const own = Buffer.allocUnsafeSlow(content.length);
  content.copy(own);
  return own;
}

/** A raw entry as the rest of the product sees it. */
export const entryOf = (raw_name: string, { mode, id }: RawEntry): TreeEntry => ({
  name: textOf(raw_name),
  id,
  mode,
  type: typeOf(mode),
});
