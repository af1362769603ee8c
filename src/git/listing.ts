/** The entries of a folder, optionally with everything below it, in the order of v4: folders, then files, then submodules. */
import { LRUCache } from 'lru-cache';
import { nextTurn } from '../foundation/loop_turns.ts';
import { git } from './command.ts';
import { fullId } from './ids.ts';
import { entriesInTurn, orderKeyOf, type RawEntry, type Tree, typeOf } from './tree.ts';
import { textOf, treeWith } from './trees.ts';
import type { EntryType, ListedEntry, Repository } from './types.ts';

interface TreeRow extends RawEntry {
  /** Path below the listed folder, its bytes as latin1. */
  raw_path: string;
}

interface Rows {
  /** Where each row is, in the order of v4. */
  places: Uint32Array;
  at(place: number): TreeRow;
  size_bytes: number;
}

const ranks = { tree: 0, blob: 1, symlink: 1, commit: 2 } as const satisfies Record<EntryType, number>;

const sortKeyOf = ({ mode, raw_path }: TreeRow): string => `${ranks[typeOf(mode)]}${orderKeyOf(raw_path, mode)}`;

/** The entries of a folder. It keeps the bytes of names and builds entries only when they are read. */
export class TreeListing {
  readonly #rows: Rows;

  constructor(rows: Rows) {
    this.#rows = rows;
  }

  get length(): number {
    return this.#rows.places.length;
  }

  /** The entries from `start` up to, but not including, `end`. */
  entries(start: number, end: number): ListedEntry[] {
    const length = Math.max(0, Math.min(end, this.length) - start);
    return Array.from({ length }, (_, index) => {
      const { mode, id, raw_path } = this.#rowAt(start + index);
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
    if (position >= this.length) throw new RangeError(`there is no entry ${position}`);
    return Buffer.from(sortKeyOf(this.#rowAt(position)), 'latin1').toString('base64url');
  }

  /** The position after the entry of a cursor. Undefined for an invalid cursor. */
  positionAfter(cursor: string): number | undefined {
    const key = Buffer.from(cursor, 'base64url').toString('latin1');
    if (!/^[012]./s.test(key)) return undefined;
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sortKeyOf(this.#rowAt(middle)) <= key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #rowAt(position: number): TreeRow {
    return this.#rows.at(this.#rows.places[position]!);
  }
}

/** Collects the positions of entries, which arrive in git's order, in the order of v4. */
class Places {
  readonly #byRank: number[][] = [[], [], []];
  #length = 0;

  add(place: number, rank: number): void {
    this.#byRank[rank]!.push(place);
    this.#length++;
  }

  /** All positions. */
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

async function rowsOfTree(tree: Tree): Promise<Rows> {
  const positions = new Places();
  for (let position = 0; position < tree.length; position++) {
    positions.add(position, ranks[tree.typeAt(position)]);
    if (position % entriesInTurn === entriesInTurn - 1) await nextTurn();
  }
  const places = positions.inOrder();
  const at = (place: number) => {
    const { raw_name, mode, id } = tree.at(place);
    return { mode, id, raw_path: raw_name };
  };
  return { places, at, size_bytes: tree.size_bytes + places.byteLength };
}

/** By the second digit of a mode: 040000, 120000 and 160000. */
const ranksByDigit = new Map<number, number>([
  [0x34, ranks.tree],
  [0x32, ranks.symlink],
  [0x36, ranks.commit],
]);
/** A few milliseconds of work. */
const rowsInTurn = 50_000;

/**
 * The rows that `git ls-tree` wrote, in git's order: `<mode> <type> <id>`, a tab, and the path, closed by NUL. As objects its lines would take several times as
 * much memory. Other requests run while a long output is read.
 */
async function rowsOfOutput(output: Buffer): Promise<Rows> {
  const starts = new Places();
  let count = 0;
  for (let at = 0; at < output.length; at = output.indexOf(0, at) + 1) {
    starts.add(at, ranksByDigit.get(output[at + 1]!) ?? ranks.blob);
    if (++count % rowsInTurn === 0) await nextTurn();
  }
  const places = starts.inOrder();
  const at = (place: number) => {
    const tab = output.indexOf(0x09, place);
    const [mode = '', , id = ''] = output.toString('latin1', place, tab).split(' ');
    return { mode, id, raw_path: output.toString('latin1', tab + 1, output.indexOf(0, tab)) };
  };
  return { places, at, size_bytes: output.length + places.byteLength };
}

/** About three million files. */
const maximumListing = 256 * 1024 * 1024;

/** Recursive listings, since clients read the pages of one after another. */
const listings = new LRUCache<string, Rows>({
  maxSize: 128 * 1024 * 1024,
  sizeCalculation: (rows, key) => key.length + 200 + rows.size_bytes,
});

/**
 * The entries of the tree with this id; with `is_recursive` also of all trees below.
 * Throws `GitError` when the repository has no such tree, `OutputTooLong` when there are millions of entries below.
 */
export async function listTree(
  repository: Repository,
  id: string,
  { is_recursive = false } = {},
): Promise<TreeListing> {
  if (!is_recursive) {
    return new TreeListing(await rowsOfTree(await treeWith(repository, id)));
  }
  const key = `${repository.path}\0${fullId(id)}`;
  const known = listings.get(key);
  if (known) return new TreeListing(known);
  const options = ['-r', '-t', '-z', '--full-tree'] as const;
  const rows = await rowsOfOutput(await git(repository, 'ls-tree', options, [id], [], { limit: maximumListing }));
  listings.set(key, rows);
  return new TreeListing(rows);
}
