/** A git tree as its bytes: as objects, the entries of a large folder take ten times as much memory, and are slow to create and to collect. */
import { nextTurn } from '../foundation/loop_turns.ts';
import type { EntryType } from './types.ts';

export interface RawEntry {
  /** Six digits. */
  mode: string;
  id: string;
}

export interface NamedEntry extends RawEntry {
  /** Its bytes as latin1, so that names in no known encoding stay what they are. */
  raw_name: string;
}

export interface Difference {
  old: NamedEntry | undefined;
  now: NamedEntry | undefined;
}

export const tree_mode = '040000';

/** The kind of an entry with this mode. */
export function typeOf(mode: string): EntryType {
  if (mode === tree_mode) return 'tree';
  if (mode === '160000') return 'commit';
  return mode === '120000' ? 'symlink' : 'blob';
}

/** Other requests run while a folder of a million files is read: this many entries take a few milliseconds. */
export const entriesInTurn = 5_000;

const space = 0x20;
const slash = 0x2f;
/** A digit, a space, a letter and a NUL, before the id. */
const shortest_entry = 4;

/** Entries, and paths, are in the order of this text: as if the names of folders ended in a slash. It holds one UTF-16 unit per byte, so comparing texts compares bytes. */
export const orderKeyOf = (raw_name: string, mode: string): string => (mode === tree_mode ? `${raw_name}/` : raw_name);

export class Tree {
  static readonly empty = new Tree(Buffer.alloc(0), 0, new Uint32Array(1));

  readonly #content: Buffer;
  readonly #id_bytes: number;
  /** The offset of each entry, and the end of the last one. */
  readonly #starts: Uint32Array;

  private constructor(content: Buffer, id_bytes: number, starts: Uint32Array) {
    this.#content = content;
    this.#id_bytes = id_bytes;
    this.#starts = starts;
  }

  /** Reads the bytes of a tree, whose ids are `id_bytes` long. Throws when they are not a tree. */
  static async of(content: Buffer, id_bytes: number): Promise<Tree> {
    const starts = new Uint32Array(Math.ceil(content.length / (id_bytes + shortest_entry)) + 1);
    let count = 0;
    for (let at = 0; at < content.length; starts[++count] = at) {
      const name = content.indexOf(space, at) + 1;
      const end = content.indexOf(0, name);
      if (name <= at + 1 || end <= name || end + id_bytes >= content.length) throw new Error('a tree that is cut off');
      at = end + 1 + id_bytes;
      if (count % entriesInTurn === entriesInTurn - 1) await nextTurn();
    }
    return new Tree(content, id_bytes, starts.slice(0, count + 1));
  }

  get length(): number {
    return this.#starts.length - 1;
  }

  get size_bytes(): number {
    return this.#content.length + this.#starts.byteLength;
  }

  /** The entry at a position below `length`. */
  at(position: number): NamedEntry {
    const name = this.#nameStart(position);
    const end = this.#nameEnd(position);
    return {
      raw_name: this.#content.toString('latin1', name, end),
      mode: this.#modeAt(position),
      id: this.#content.toString('hex', end + 1, end + 1 + this.#id_bytes),
    };
  }

  typeAt(position: number): EntryType {
    return typeOf(this.#modeAt(position));
  }

  /** The entry with this name, which has no slash. */
  get(raw_name: string): RawEntry | undefined {
    const position = this.#positionOf(raw_name);
    return position === undefined ? undefined : this.at(position);
  }

  /** The bytes of a tree with changed entries: each replaces the entry of its name, and undefined removes it. */
  with(changes: Iterable<readonly [raw_name: string, entry: RawEntry | undefined]>): Buffer {
    const edits: { key: string; at: number; removed: number; bytes: Buffer }[] = [];
    for (const [raw_name, entry] of changes) {
      const old = this.#positionOf(raw_name);
      if (old !== undefined) edits.push({ key: this.#keyAt(old), at: old, removed: 1, bytes: Buffer.alloc(0) });
      if (!entry) continue;
      const key = orderKeyOf(raw_name, entry.mode);
      edits.push({ key, at: this.#firstNotBefore(key), removed: 0, bytes: formatEntry(raw_name, entry) });
    }
    edits.sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
    const pieces: Buffer[] = [];
    let next = 0;
    for (const { at, removed, bytes } of edits) {
      pieces.push(this.#bytes(next, at), bytes);
      next = Math.max(next, at + removed);
    }
    return Buffer.concat([...pieces, this.#bytes(next, this.length)]);
  }

  /** The entries in which this tree and another one differ. A folder in place of a file of the same name counts as two differences. */
  async *differencesTo(other: Tree): AsyncGenerator<Difference> {
    let [at, there] = [0, 0];
    for (let count = 1; at < this.length || there < other.length; count++) {
      if (count % entriesInTurn === 0) await nextTurn();
      if (this.#isSame(at, other, there)) {
        at++;
        there++;
        continue;
      }
      const order = this.#order(at, other, there);
      yield { old: order > 0 ? undefined : this.at(at++), now: order < 0 ? undefined : other.at(there++) };
    }
  }

  #isSame(at: number, other: Tree, there: number): boolean {
    if (at >= this.length || there >= other.length) return false;
    const [start, end] = [this.#starts[at]!, this.#starts[at + 1]!];
    return this.#content.compare(other.#content, other.#starts[there]!, other.#starts[there + 1]!, start, end) === 0;
  }

  /** Below 0 when the entry at a position sorts before the one of another tree; a position beyond the end sorts last. */
  #order(at: number, other: Tree, there: number): number {
    if (at >= this.length) return 1;
    return there >= other.length ? -1 : this.#compare(at, other.#keyAt(there));
  }

  #positionOf(raw_name: string): number | undefined {
    for (const key of [raw_name, `${raw_name}/`]) {
      const position = this.#firstNotBefore(key);
      if (position < this.length && this.#compare(position, key) === 0) return position;
    }
    return undefined;
  }

  #firstNotBefore(key: string): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(middle, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Below 0 when the entry comes before the key, above 0 when it comes after it. */
  #compare(position: number, key: string): number {
    const name = this.#nameStart(position);
    const length = this.#nameEnd(position) - name;
    const common = Math.min(length, key.length);
    for (let index = 0; index < common; index++) {
      const difference = this.#content[name + index]! - key.charCodeAt(index);
      if (difference !== 0) return difference;
    }
    if (this.typeAt(position) !== 'tree' || length > key.length) return length - key.length;
    return length === key.length ? 1 : slash - key.charCodeAt(length) || length + 1 - key.length;
  }

  #keyAt(position: number): string {
    const { raw_name, mode } = this.at(position);
    return orderKeyOf(raw_name, mode);
  }

  #modeAt(position: number): string {
    return this.#content.toString('latin1', this.#starts[position]!, this.#nameStart(position) - 1).padStart(6, '0');
  }

  #nameStart(position: number): number {
    let at = this.#starts[position]!;
    while (this.#content[at] !== space) at++;
    return at + 1;
  }

  #nameEnd(position: number): number {
    return this.#starts[position + 1]! - this.#id_bytes - 1;
  }

  #bytes(from: number, to: number): Buffer {
    return from < to ? this.#content.subarray(this.#starts[from], this.#starts[to]) : Buffer.alloc(0);
  }
}

const formatEntry = (raw_name: string, { mode, id }: RawEntry): Buffer =>
  Buffer.concat([Buffer.from(`${mode.replace(/^0/, '')} ${raw_name}\0`, 'latin1'), Buffer.from(id, 'hex')]);
