/** Finds files by name in a whole tree. The result for a folder is cached by its id, so that after a commit only the changed folders are read. */
import { LRUCache } from 'lru-cache';
import { nextTurn } from '../foundation/loop_turns.ts';
import { Semaphore } from '../foundation/semaphore.ts';
import { entriesInTurn, type Tree } from './tree.ts';
import { textOf, treeWith } from './trees.ts';
import type { Repository } from './types.ts';

export interface NamedFile {
  path: string;
  /** The id of its blob. */
  id: string;
}

/** The entries of a folder with wanted names, in git's order. Subfolders without any are left out. */
type Folder = readonly { raw_name: string; held: string | Folder }[];

const empty: Folder = [];
const maximumPath_bytes = 4096;
/** The number of folders that are read concurrently. */
const folders_at_once = 1_000;

export class NamedFiles {
  readonly #isWanted: (name: string) => boolean;
  readonly #folders = new LRUCache<string, Folder>({
    maxSize: 8 * 1024 * 1024,
    sizeCalculation: (folder) => 250 + folder.length * 150,
  });
  readonly #reads = new Semaphore(32);

  /** @param isWanted whether a file is wanted, by its name without its folders */
  constructor(isWanted: (name: string) => boolean) {
    this.#isWanted = isWanted;
  }

  /**
   * The files with wanted names in the tree with this id, in the order of their paths. Links and submodules are no files.
   * @param most the maximum number of visited files and folders: a small repository can have billions of paths, since a tree may contain another one many times
   * @throws when the repository has no such tree
   */
  async in(repository: Repository, tree_id: string, most: number): Promise<NamedFile[]> {
    const found: NamedFile[] = [];
    const open = [{ prefix: '', folder: await this.#folder(repository, tree_id, new Map()), at: 0 }];
    for (let looked_at = 1; open.length > 0 && looked_at <= most; looked_at++) {
      const { prefix, folder, at } = open.at(-1)!;
      open.at(-1)!.at++;
      const entry = folder[at];
      if (!entry) open.pop();
      else if (typeof entry.held === 'string') found.push({ path: textOf(prefix + entry.raw_name), id: entry.held });
      else if (prefix.length < maximumPath_bytes)
        open.push({ prefix: `${prefix}${entry.raw_name}/`, folder: entry.held, at: 0 });
      if (looked_at % entriesInTurn === 0) await nextTurn();
    }
    return found;
  }

  /** @param open the folders that are being read, since a tree may contain one many times */
  #folder(repository: Repository, tree_id: string, open: Map<string, Promise<Folder>>): Promise<Folder> {
    const known = this.#folders.get(tree_id) ?? open.get(tree_id);
    if (known) return Promise.resolve(known);
    const folder = this.#read(repository, tree_id, open);
    open.set(tree_id, folder);
    return folder;
  }

  async #read(repository: Repository, tree_id: string, open: Map<string, Promise<Folder>>): Promise<Folder> {
    const tree = await this.#reads.run(() => treeWith(repository, tree_id));
    const wanted = await this.#wantedIn(tree);
    const folder: { raw_name: string; held: string | Folder }[] = [];
    for (let at = 0; at < wanted.length; at += folders_at_once) {
      const entries = wanted.slice(at, at + folders_at_once).map(async ({ raw_name, id, is_folder }) => ({
        raw_name,
        held: is_folder ? await this.#folder(repository, id, open) : id,
      }));
      folder.push(...(await Promise.all(entries)).filter(({ held }) => held !== empty));
    }
    const kept = folder.length === 0 ? empty : folder;
    this.#folders.set(tree_id, kept);
    open.delete(tree_id);
    return kept;
  }

  async #wantedIn(tree: Tree): Promise<{ raw_name: string; id: string; is_folder: boolean }[]> {
    const wanted = [];
    for (let position = 0; position < tree.length; position++) {
      if (position % entriesInTurn === entriesInTurn - 1) await nextTurn();
      const type = tree.typeAt(position);
      if (type !== 'tree' && type !== 'blob') continue;
      const { raw_name, id } = tree.at(position);
      const is_folder = type === 'tree';
      if (is_folder || this.#isWanted(textOf(raw_name))) wanted.push({ raw_name, id, is_folder });
    }
    return wanted;
  }
}
