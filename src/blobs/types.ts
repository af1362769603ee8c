/** What the rest of the product asks of a place for large files; a folder is one, an object store can be another. */
import type { Readable } from 'node:stream';

/**
 * The name of a blob: its kind and its own name, e.g. `lfs/2cf24dba5f…`. Blobs are spread by the first four characters of the name, which should
 * therefore be a digest or random.
 */
export type BlobKey = `${string}/${string}`;

/** What a blob has to turn out to be while it comes in. */
export interface Expected {
  size_bytes: number;
  /** In hexadecimal, lower case. */
  sha256: string;
}

/** What a blob that nobody has announced may be. */
export interface Bounded {
  at_most_bytes: number;
}

/** The bytes that came in are not those that were announced, or too many. */
export class BlobMismatch extends Error {
  override name = 'BlobMismatch';
  readonly what: 'size' | 'digest';
  constructor(what: 'size' | 'digest') {
    super(`The ${what} is not the one that was announced.`);
    this.what = what;
  }
}

/** A blob that has come in whole and lies on the disk, but that nobody can see yet. One of both must follow. */
export interface ReceivedBlob {
  size_bytes: number;
  /** Puts it in its place, at once and for good, also over an older one. */
  keep(key: BlobKey): Promise<void>;
  /** Removes it; after `keep` nothing. */
  discard(): Promise<void>;
}

/** Bytes `start` to `end`, both included and counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface Blobs {
  /**
   * Takes in a stream in constant memory and compares it with what was announced, or with what is allowed. A stream that breaks off, or is not what it should
   * be, leaves nothing behind; the stream itself is not destroyed, so that a reply can still be sent on its connection.
   * @throws BlobMismatch, and the stream's own errors
   */
  receive(source: Readable, expected: Expected | Bounded): Promise<ReceivedBlob>;
  /** A blob as a stream, which must be read or destroyed; undefined when there is none. */
  read(key: BlobKey, range?: ByteRange): Promise<Readable | undefined>;
  /** Removes a blob, to which those who read it right now are not subject. Removing nothing is no error. */
  remove(key: BlobKey): Promise<void>;
  /**
   * Removes what receptions that were killed have left.
   * @param older_than_ms how long nobody has written to it
   * @returns how many files
   */
  sweep(older_than_ms: number): Promise<number>;
}
