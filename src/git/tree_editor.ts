/** Changes files of a tree in memory. Only the folders that contain a change are read and written. */
import type { ObjectWriter } from './loose_objects.ts';
import { formatTree, keepTree, type RawEntry, type RawTree, rawName, rawTree, tree_mode, treeOf } from './trees.ts';
import type { Repository } from './types.ts';

/** A change that conflicts with the tree, or an invalid path. */
export class ChangeRefused extends Error {
  override name = 'ChangeRefused';
  readonly path: string;
  readonly reason: 'missing' | 'exists' | 'not_a_file' | 'not_a_folder' | 'invalid_path';

  constructor(path: string, reason: ChangeRefused['reason']) {
    super(`${path}: ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/** A loaded folder with its entries; folders that are not loaded are known only by id. */
interface Folder {
  entries: Map<string, RawEntry | Folder>;
}

/** The loaded folders from the root to the parent of a path. */
interface OpenPath {
  folders: Folder[];
  names: string[];
}

export class TreeEditor {
  readonly #repository: Repository;
  readonly #root: Folder;
  readonly #written = new Map<string, RawTree>();

  /** @param root the entries of the root folder; none for a new repository */
  constructor(repository: Repository, root: RawTree) {
    this.#repository = repository;
    this.#root = { entries: new Map(root) };
  }

  /** The file, link or submodule at a path. Throws `ChangeRefused` when there is none, or a folder. */
  async file(path: string): Promise<RawEntry> {
    const { folders, names } = await this.#open(path, false);
    const entry = folders.at(-1)!.entries.get(names.at(-1)!);
    if (!entry) throw new ChangeRefused(path, 'missing');
    if ('entries' in entry || entry.mode === tree_mode) throw new ChangeRefused(path, 'not_a_file');
    return entry;
  }

  /** Creates or replaces a file. Throws `ChangeRefused` when there is a folder, or when a parent of the path is a file. */
  async put(path: string, entry: RawEntry, may_exist: boolean): Promise<void> {
    const { folders, names } = await this.#open(path, true);
    const there = folders.at(-1)!.entries.get(names.at(-1)!);
    if (there && ('entries' in there || there.mode === tree_mode || there.mode === '160000'))
      throw new ChangeRefused(path, 'not_a_file');
    if (there && !may_exist) throw new ChangeRefused(path, 'exists');
    folders.at(-1)!.entries.set(names.at(-1)!, entry);
  }

  /** Deletes a file and the folders that become empty. Throws `ChangeRefused` when there is no file. */
  async remove(path: string): Promise<void> {
    await this.file(path);
    const { folders, names } = await this.#open(path, false);
    for (let depth = names.length - 1; depth >= 0; depth--) {
      folders[depth]!.entries.delete(names[depth]!);
      if (folders[depth]!.entries.size > 0) return;
    }
  }

  /** Adds the changed folders to the objects of a commit and returns the id of the root tree. */
  write(objects: ObjectWriter): Promise<string> {
    return this.#write(this.#root, objects);
  }

  /** Keeps in memory what `write` has written, once it is stored: the next commit begins there. */
  keep(): void {
    for (const [id, tree] of this.#written) keepTree(this.#repository, id, tree);
  }

  async #open(path: string, create: boolean): Promise<OpenPath> {
    const names = path.split('/').map(rawName);
    const folders = [this.#root];
    for (const name of names.slice(0, -1)) {
      const folder = folders.at(-1)!;
      const entry = folder.entries.get(name);
      if (!entry && !create) throw new ChangeRefused(path, 'missing');
      const opened = entry ? await this.#folder(entry) : { entries: new Map() };
      if (!opened) throw new ChangeRefused(path, create ? 'not_a_folder' : 'missing');
      folder.entries.set(name, opened);
      folders.push(opened);
    }
    return { folders, names };
  }

  async #folder(entry: RawEntry | Folder): Promise<Folder | undefined> {
    if ('entries' in entry) return entry;
    return entry.mode === tree_mode ? { entries: new Map(await rawTree(this.#repository, entry.id)) } : undefined;
  }

  async #write(folder: Folder, objects: ObjectWriter): Promise<string> {
    const entries = await Promise.all(
      Array.from(
        folder.entries,
        async ([name, entry]): Promise<[string, RawEntry]> => [
          name,
          'entries' in entry ? { mode: tree_mode, id: await this.#write(entry, objects) } : entry,
        ],
      ),
    );
    const tree = treeOf(entries);
    const id = await objects.add('tree', formatTree(tree));
    this.#written.set(id, tree);
    return id;
  }
}
