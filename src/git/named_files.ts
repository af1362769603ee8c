/** Finds files by their names in a whole tree. What a folder holds is kept by its id, so that after a commit only the folders that it changed are read. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Semaphore } from './semaphore.ts';
import { type RawTree, rawTree, textOf, tree_mode, typeOf } from './trees.ts';
import type { Repository } from './types.ts';

export interface NamedFile {
  path: string;
  /** The id of its blob. */
  id: string;
}

/** What a folder holds that has a wanted name, in git's order. Folders below without any are left out. */
type Folder = readonly { raw_name: string; held: string | Folder }[];

const empty: Folder = [];
const longest_path_bytes = 4096;
/** A few milliseconds of work. */
const entries_in_turn = 2_000;

export class NamedFiles {
  readonly #isWanted: (name: string) => boolean;
  readonly #folders = new LRUCache<string, Folder>({
    maxSize: 8 * 1024 * 1024,
    sizeCalculation: (folder) => 250 + folder.length * 150,
  });
  readonly #reads = new Semaphore(32);

  /** @param isWanted tells by the name of a file, without its folders, whether it is one of those that are looked for */
  constructor(isWanted: (name: string) => boolean) {
    this.#isWanted = isWanted;
  }

  /**
   * The files with wanted names in the tree with this id, in the order of their paths. Links and submodules are no files.
   * @param most the number of files and folders that are looked at on the way: a small repository can have billions of paths, since a tree may hold another one many times
   * @throws when the repository has no such tree
   */
  async in(repository: Repository, tree_id: string, most: number): Promise<NamedFile[]> {
    const found: NamedFile[] = [];
    const left = [{ raw_path: '', held: (await this.#folder(repository, tree_id, new Map())) as string | Folder }];
    for (let looked_at = 0; left.length > 0 && looked_at < most; looked_at++) {
      const { raw_path, held } = left.pop()!;
      if (typeof held === 'string') found.push({ path: textOf(raw_path), id: held });
      else if (raw_path.length < longest_path_bytes) {
        const prefix = raw_path === '' ? '' : `${raw_path}/`;
        for (const entry of held.toReversed()) left.push({ raw_path: prefix + entry.raw_name, held: entry.held });
      }
      if (looked_at % entries_in_turn === 0) await nextTurn();
    }
    return found;
  }

  /** @param open the folders that are being read, since a tree may hold one many times */
  #folder(repository: Repository, tree_id: string, open: Map<string, Promise<Folder>>): Promise<Folder> {
    const known = this.#folders.get(tree_id) ?? open.get(tree_id);
    if (known) return Promise.resolve(known);
    const folder = this.#read(repository, tree_id, open);
    open.set(tree_id, folder);
    return folder;
  }

  async #read(repository: Repository, tree_id: string, open: Map<string, Promise<Folder>>): Promise<Folder> {
    const tree = await this.#reads.run(() => rawTree(repository, tree_id));
    const held = await Promise.all(
      this.#wantedIn(tree).map(async ({ raw_name, id, is_folder }) => ({
        raw_name,
        held: is_folder ? await this.#folder(repository, id, open) : id,
      })),
    );
    const folder = held.filter((entry) => entry.held !== empty);
    const kept = folder.length === 0 ? empty : folder;
    this.#folders.set(tree_id, kept);
    open.delete(tree_id);
    return kept;
  }

  #wantedIn(tree: RawTree): { raw_name: string; id: string; is_folder: boolean }[] {
    const wanted = [];
    for (const [raw_name, { mode, id }] of tree) {
      const is_folder = mode === tree_mode;
      if (is_folder || (typeOf(mode) === 'blob' && this.#isWanted(textOf(raw_name)))) wanted.push({ raw_name, id, is_folder });
    }
    return wanted;
  }
}
