/** Changes files of a tree in memory. Only the folders that contain a change are read and written. */
import type { ObjectWriter } from './loose_objects.ts';
import { type RawEntry, Tree, tree_mode } from './tree.ts';
import { keepTree, rawName, treeWith } from './trees.ts';
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

const submodule_mode = '160000';

/** A loaded folder. Folders that are not loaded are represented by their id. */
class Folder {
  readonly #tree: Tree;
  /** By name; undefined when it was deleted. */
  readonly #changed = new Map<string, RawEntry | Folder | undefined>();
  #length: number;

  constructor(tree: Tree) {
    this.#tree = tree;
    this.#length = tree.length;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  get(name: string): RawEntry | Folder | undefined {
    return this.#changed.has(name) ? this.#changed.get(name) : this.#tree.get(name);
  }

  set(name: string, entry: RawEntry | Folder | undefined): void {
    this.#length += Number(entry !== undefined) - Number(this.get(name) !== undefined);
    this.#changed.set(name, entry);
  }

  /**
   * The bytes of its tree.
   * @param idOf returns the id of the tree of a subfolder
   */
  async content(idOf: (folder: Folder) => Promise<string>): Promise<Buffer> {
    const changes = Array.from(
      this.#changed,
      async ([name, entry]): Promise<[string, RawEntry | undefined]> => [
        name,
        entry instanceof Folder ? { mode: tree_mode, id: await idOf(entry) } : entry,
      ],
    );
    return this.#tree.with(await Promise.all(changes));
  }
}

/** The loaded folders from the root to the parent of a path. */
interface OpenPath {
  folders: Folder[];
  names: string[];
}

export class TreeEditor {
  readonly #repository: Repository;
  readonly #root: Folder;
  /** The bytes of trees by their ids. */
  readonly #written = new Map<string, Buffer>();

  /** @param root the tree of the root folder; an empty one for a new repository */
  constructor(repository: Repository, root: Tree) {
    this.#repository = repository;
    this.#root = new Folder(root);
  }

  /** The file, link or submodule at a path. Throws `ChangeRefused` when there is none, or a folder. */
  async file(path: string): Promise<RawEntry> {
    const { folders, names } = await this.#open(path, false);
    const entry = folders.at(-1)!.get(names.at(-1)!);
    if (!entry) throw new ChangeRefused(path, 'missing');
    if (entry instanceof Folder || entry.mode === tree_mode) throw new ChangeRefused(path, 'not_a_file');
    return entry;
  }

  /** Creates or replaces a file. Throws `ChangeRefused` when there is a folder, or when a parent of the path is a file. */
  async put(path: string, entry: RawEntry, may_exist: boolean): Promise<void> {
    const { folders, names } = await this.#open(path, true);
    const there = folders.at(-1)!.get(names.at(-1)!);
    if (there && (there instanceof Folder || there.mode === tree_mode || there.mode === submodule_mode))
      throw new ChangeRefused(path, 'not_a_file');
    if (there && !may_exist) throw new ChangeRefused(path, 'exists');
    folders.at(-1)!.set(names.at(-1)!, entry);
  }

  /** Sets a submodule to another commit. Throws `ChangeRefused` when there is none. */
  async repoint(path: string, commit_id: string): Promise<void> {
    const { mode } = await this.file(path);
    if (mode !== submodule_mode) throw new ChangeRefused(path, 'not_a_file');
    const { folders, names } = await this.#open(path, false);
    folders.at(-1)!.set(names.at(-1)!, { mode, id: commit_id });
  }

  /** Deletes a file and the folders that become empty. Throws `ChangeRefused` when there is no file. */
  async remove(path: string): Promise<void> {
    await this.file(path);
    const { folders, names } = await this.#open(path, false);
    for (let depth = names.length - 1; depth >= 0; depth--) {
      folders[depth]!.set(names[depth]!, undefined);
      if (!folders[depth]!.isEmpty) return;
    }
  }

  /** Adds the changed folders to the objects of a commit and returns the id of the root tree. */
  write(objects: ObjectWriter): Promise<string> {
    return this.#write(this.#root, objects);
  }

  /** Caches the output of `write` once it is stored: the next commit starts from it. */
  async keep(): Promise<void> {
    for (const [id, content] of this.#written) await keepTree(this.#repository, id, content);
  }

  async #open(path: string, create: boolean): Promise<OpenPath> {
    const names = path.split('/').map(rawName);
    const folders = [this.#root];
    for (const name of names.slice(0, -1)) {
      const folder = folders.at(-1)!;
      const entry = folder.get(name);
      if (!entry && !create) throw new ChangeRefused(path, 'missing');
      const opened = entry ? await this.#folder(entry) : new Folder(Tree.empty);
      if (!opened) throw new ChangeRefused(path, create ? 'not_a_folder' : 'missing');
      folder.set(name, opened);
      folders.push(opened);
    }
    return { folders, names };
  }

  async #folder(entry: RawEntry | Folder): Promise<Folder | undefined> {
    if (entry instanceof Folder) return entry;
    return entry.mode === tree_mode ? new Folder(await treeWith(this.#repository, entry.id)) : undefined;
  }

  async #write(folder: Folder, objects: ObjectWriter): Promise<string> {
    const content = await folder.content((below) => this.#write(below, objects));
    const id = await objects.add('tree', content);
    this.#written.set(id, content);
    return id;
  }
}
