/** What lies in a folder, or in it and everything below, in the order of v4: folders, then files, then submodules. */
import { LRUCache } from 'lru-cache';
import { git } from './command.ts';
import { fullId } from './ids.ts';
import { type RawEntry, rawTree, textOf, tree_mode, typeOf } from './trees.ts';
import type { ListedEntry, Repository } from './types.ts';

interface Row extends RawEntry {
  /** Path below the listed folder, its bytes as latin1. */
  raw_path: string;
}

const ranks = { tree: 0, blob: 1, symlink: 1, commit: 2 } as const;
const rankOf = ({ mode }: Row): number => ranks[typeOf(mode)];

/** Sorting by this text is git's order: as if a folder's name ended in a slash. One UTF-16 unit per byte, so comparing text compares bytes. */
const keyOf = ({ mode, raw_path }: Row): string => (mode === tree_mode ? `${raw_path}/` : raw_path);
const placeOf = (row: Row): string => `${rankOf(row)}${keyOf(row)}`;

/** The entries of a folder. It keeps the bytes of names, and makes entries of those only that are asked for. */
export class TreeListing {
  readonly #rows: readonly Row[];

  /** `rows` are in git's order. */
  constructor(rows: Iterable<Row>) {
    const kinds: Row[][] = [[], [], []];
    for (const row of rows) kinds[rankOf(row)]!.push(row);
    this.#rows = kinds.flat();
  }

  get length(): number {
    return this.#rows.length;
  }

  /** The entries from one position up to another, which is not among them. */
  entries(start: number, end: number): ListedEntry[] {
    return this.#rows.slice(start, end).map(({ mode, id, raw_path }) => ({
      name: textOf(raw_path.slice(raw_path.lastIndexOf('/') + 1)),
      path: textOf(raw_path),
      id,
      mode,
      type: typeOf(mode),
    }));
  }

  /** A text that stands for the entry at a position, also in a later listing from which the entry is gone. */
  markOf(position: number): string {
    const row = this.#rows[position];
    if (!row) throw new RangeError(`there is no entry ${position}`);
    return Buffer.from(placeOf(row), 'latin1').toString('base64url');
  }

  /** The position behind the entry that a mark stands for. Undefined when the text is no mark. */
  positionAfter(mark: string): number | undefined {
    const place = Buffer.from(mark, 'base64url').toString('latin1');
    if (!/^[012]./s.test(place)) return undefined;
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (placeOf(this.#rows[middle]!) <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Listings of everything below a folder; pages of one are asked for one after the other. */
const listings = new LRUCache<string, TreeListing>({
  maxSize: 64 * 1024 * 1024,
  sizeCalculation: (listing, key) => key.length + 200 + listing.length * 250,
});

/** The entries of the tree with this id; with `is_recursive` also of all trees below. Throws `GitError` when the repository has no such tree. */
export async function listTree(repository: Repository, id: string, { is_recursive = false } = {}): Promise<TreeListing> {
  if (!is_recursive) {
    const tree = await rawTree(repository, id);
    return new TreeListing(Array.from(tree, ([raw_path, entry]) => ({ ...entry, raw_path })));
  }
  const key = `${repository.path}\0${fullId(id)}`;
  const known = listings.get(key);
  if (known) return known;
  const output = await git(repository, 'ls-tree', ['-r', '-t', '-z', '--full-tree'], [id]);
  const listing = new TreeListing(parseListing(output));
  listings.set(key, listing);
  return listing;
}

/** `<mode> <type> <id>`, a tab, and the path, closed by NUL. */
function* parseListing(output: Buffer): Generator<Row> {
  for (let at = 0; at < output.length; ) {
    const tab = output.indexOf(0x09, at);
    const end = output.indexOf(0, tab);
    const [mode = '', , id = ''] = output.toString('latin1', at, tab).split(' ');
    yield { mode, id, raw_path: output.toString('latin1', tab + 1, end) };
    at = end + 1;
  }
}
