/** Trees, git's directories, parsed and cached: the tree with an id never changes. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { fullId } from './ids.ts';
import { storedObject } from './readers.ts';
import type { EntryType, Repository, TreeEntry } from './types.ts';

export interface RawEntry {
  /** Six digits. */
  mode: string;
  id: string;
}

/** Name → entry in git's order. A name is its bytes as latin1, so that names in no known encoding stay what they are. */
export type RawTree = ReadonlyMap<string, RawEntry>;

export const tree_mode = '040000';

/** A path component as the key of a `RawTree`. */
export const rawName = (name: string): string => Buffer.from(name, 'utf8').toString('latin1');
/** The text of a raw name; bytes that are not UTF-8 are replaced. */
export const textOf = (raw_name: string): string => Buffer.from(raw_name, 'latin1').toString('utf8');

const trees = new LRUCache<string, RawTree>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: (tree, key) => key.length + 200 + tree.size * 200,
});

/** Whether the tree with this id is in memory. */
export const isTreeKept = (repository: Repository, id: string): boolean => trees.has(`${repository.path}\0${fullId(id)}`);

/** Keeps the entries of a tree in memory that has just been stored. */
export const keepTree = (repository: Repository, id: string, tree: RawTree): void => {
  trees.set(`${repository.path}\0${fullId(id)}`, tree);
};

/** The entries of the tree with this id. Throws when the repository has no such tree. */
export async function rawTree(repository: Repository, id: string): Promise<RawTree> {
  const key = `${repository.path}\0${fullId(id)}`;
  const known = trees.get(key);
  if (known) return known;
  const object = await storedObject(repository, id);
  if (object?.type !== 'tree') throw new Error(`${id} is not a tree of ${repository.path}`);
  const tree = await parseTree(object.content, id.length / 2);
  trees.set(key, tree);
  return tree;
}

/** Other requests run while a folder of a million files is read: so many entries take a few milliseconds. */
export const entriesInTurn = 5_000;

/** Reads the bytes of a tree, whose ids are `id_bytes` long. Throws when they are not a tree. */
async function parseTree(content: Buffer, id_bytes: number): Promise<RawTree> {
  const entries = new Map<string, RawEntry>();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0 || end + id_bytes >= content.length) throw new Error('a tree that is cut off');
    const mode = content.toString('latin1', at, space).padStart(6, '0');
    const id = content.toString('hex', end + 1, end + 1 + id_bytes);
    entries.set(content.toString('latin1', space + 1, end), { mode, id });
    at = end + 1 + id_bytes;
    if (entries.size % entriesInTurn === 0) await nextTurn();
  }
  return entries;
}

/** These entries in git's order: as if the names of directories ended in a slash. */
export function treeOf(entries: readonly (readonly [name: string, RawEntry])[]): RawTree {
  const keyed = entries.map((entry) => ({ entry, key: entry[1].mode === tree_mode ? `${entry[0]}/` : entry[0] }));
  // Names hold one UTF-16 unit per byte, so comparing strings compares bytes.
  return new Map(keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ entry }) => entry));
}

/** The bytes of a tree. */
export function formatTree(tree: RawTree): Buffer {
  let length = 0;
  for (const [name, { mode, id }] of tree) length += mode.length + name.length + 2 + id.length / 2;
  const content = Buffer.allocUnsafe(length);
  let at = 0;
  for (const [name, { mode, id }] of tree) {
    at += content.write(`${mode.replace(/^0/, '')} ${name}\0`, at, 'latin1');
    at += content.write(id, at, 'hex');
  }
  return content.subarray(0, at);
}

/** The kind of an entry with this mode. */
export function typeOf(mode: string): EntryType {
  if (mode === tree_mode) return 'tree';
  if (mode === '160000') return 'commit';
  return mode === '120000' ? 'symlink' : 'blob';
}

/** A raw entry as the rest of the product sees it. */
export const entryOf = (raw_name: string, { mode, id }: RawEntry): TreeEntry => ({
  name: textOf(raw_name),
  id,
  mode,
  type: typeOf(mode),
});
