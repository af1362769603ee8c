/** The entries of a folder, optionally with everything below it, in the order of v4: folders, then files, then submodules. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { git } from './command.ts';
import { fullId } from './ids.ts';
import { entriesInTurn, type RawEntry, type Tree, tree_mode, typeOf } from './tree.ts';
import { textOf, treeWith } from './trees.ts';
import type { EntryType, ListedEntry, Repository } from './types.ts';

interface Row extends RawEntry {
  /** Path below the listed folder, its bytes as latin1. */
  raw_path: string;
}

/** Rows by their position. */
interface Rows {
  readonly length: number;
  at(position: number): Row | undefined;
}

const ranks = { tree: 0, blob: 1, symlink: 1, commit: 2 } as const satisfies Record<EntryType, number>;

/** Sorting by this text is git's order: as if a folder's name ended in a slash. One UTF-16 unit per byte, so comparing text compares bytes. */
const keyOf = ({ mode, raw_path }: Row): string => (mode === tree_mode ? `${raw_path}/` : raw_path);
const sortKeyOf = (row: Row): string => `${ranks[typeOf(row.mode)]}${keyOf(row)}`;

/** The entries of a folder. It keeps the bytes of names and builds only the entries that are read. */
export class TreeListing {
  readonly #rows: Rows;

  /** `rows` are in the order of v4. */
  constructor(rows: Rows) {
    this.#rows = rows;
  }

  get length(): number {
    return this.#rows.length;
  }

  /** The entries from `start` up to, but not including, `end`. */
  entries(start: number, end: number): ListedEntry[] {
    const length = Math.max(0, Math.min(end, this.length) - start);
    return Array.from({ length }, (_, index) => {
      const { mode, id, raw_path } = this.#rows.at(start + index)!;
      return {
        name: textOf(raw_path.slice(raw_path.lastIndexOf('/') + 1)),
        path: textOf(raw_path),
        id,
        mode,
        type: typeOf(mode),
      };
    });
  }

  /** A cursor for the entry at a position, which also works in a later listing without that entry. */
  cursorOf(position: number): string {
    const row = this.#rows.at(position);
    if (!row) throw new RangeError(`there is no entry ${position}`);
    return Buffer.from(sortKeyOf(row), 'latin1').toString('base64url');
  }

  /** The position after the entry of a cursor. Undefined for an invalid cursor. */
  positionAfter(cursor: string): number | undefined {
    const key = Buffer.from(cursor, 'base64url').toString('latin1');
    if (!/^[012]./s.test(key)) return undefined;
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sortKeyOf(this.#rows.at(middle)!) <= key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Collects places of entries, which come in git's order, in that of v4. */
class Places {
  readonly #byRank: number[][] = [[], [], []];
  #length = 0;

  add(place: number, rank: number): void {
    this.#byRank[rank]!.push(place);
    this.#length++;
  }

  /** All of them. */
  inOrder(): Uint32Array {
    const places = new Uint32Array(this.#length);
    let filled = 0;
    for (const each of this.#byRank) {
      places.set(each, filled);
      filled += each.length;
    }
    return places;
  }
}

/** The entries of a single folder. */
class FolderRows implements Rows {
  readonly #tree: Tree;
  /** In the order of v4. */
  readonly #positions: Uint32Array;

  private constructor(tree: Tree, positions: Uint32Array) {
    this.#tree = tree;
    this.#positions = positions;
  }

  static async of(tree: Tree): Promise<FolderRows> {
    const positions = new Places();
    for (let position = 0; position < tree.length; position++) {
      positions.add(position, ranks[tree.typeAt(position)]);
      if (position % entriesInTurn === entriesInTurn - 1) await nextTurn();
    }
    return new FolderRows(tree, positions.inOrder());
  }

  get length(): number {
    return this.#positions.length;
  }

  at(position: number): Row | undefined {
    const there = this.#positions[position];
    if (there === undefined) return undefined;
    const { raw_name, mode, id } = this.#tree.at(there);
    return { mode, id, raw_path: raw_name };
  }
}

/** By the second digit of a mode: 040000, 120000 and 160000. */
const ranksByDigit = new Map<number, number>([
  [0x34, ranks.tree],
  [0x32, ranks.symlink],
  [0x36, ranks.commit],
]);
/** A few milliseconds of work. */
const rowsInTurn = 50_000;

/** What `git ls-tree` wrote, `<mode> <type> <id>`, a tab, and the path, closed by NUL: as objects its lines would take several times as much. */
class OutputRows implements Rows {
  readonly #output: Buffer;
  /** Where each row begins, in the order of v4. */
  readonly #starts: Uint32Array;

  private constructor(output: Buffer, starts: Uint32Array) {
    this.#output = output;
    this.#starts = starts;
  }

  /** `output` is in git's order. Other requests run while a long one is read. */
  static async of(output: Buffer): Promise<OutputRows> {
    const starts = new Places();
    let count = 0;
    for (let at = 0; at < output.length; at = output.indexOf(0, at) + 1) {
      starts.add(at, ranksByDigit.get(output[at + 1]!) ?? ranks.blob);
      if (++count % rowsInTurn === 0) await nextTurn();
    }
    return new OutputRows(output, starts.inOrder());
  }

  get length(): number {
    return this.#starts.length;
  }

  get size_bytes(): number {
    return this.#output.length + this.#starts.byteLength;
  }

  at(position: number): Row | undefined {
    const start = this.#starts[position];
    if (start === undefined) return undefined;
    const tab = this.#output.indexOf(0x09, start);
    const [mode = '', , id = ''] = this.#output.toString('latin1', start, tab).split(' ');
    return { mode, id, raw_path: this.#output.toString('latin1', tab + 1, this.#output.indexOf(0, tab)) };
  }
}

/** About three million files. */
const longest_listing = 256 * 1024 * 1024;

/** Recursive listings, since clients read the pages of one after another. */
const listings = new LRUCache<string, OutputRows>({
  maxSize: 128 * 1024 * 1024,
  sizeCalculation: (rows, key) => key.length + 200 + rows.size_bytes,
});

/**
 * The entries of the tree with this id; with `is_recursive` also of all trees below.
 * Throws `GitError` when the repository has no such tree, `OutputTooLong` when there are millions of entries below.
 */
export async function listTree(repository: Repository, id: string, { is_recursive = false } = {}): Promise<TreeListing> {
  if (!is_recursive) {
    return new TreeListing(await FolderRows.of(await treeWith(repository, id)));
  }
  const key = `${repository.path}\0${fullId(id)}`;
  const known = listings.get(key);
  if (known) return new TreeListing(known);
  const options = ['-r', '-t', '-z', '--full-tree'] as const;
  const rows = await OutputRows.of(await git(repository, 'ls-tree', options, [id], [], { limit: longest_listing }));
  listings.set(key, rows);
  return new TreeListing(rows);
}
