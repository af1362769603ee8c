/** The interface of blob storage: a folder implements it, and an object store can. */
import type { Readable } from 'node:stream';

/**
 * The name of a blob: its kind and its own name, e.g. `lfs/2cf24dba5f…`. Blobs are spread by the first four characters of the name, which should
 * therefore be a digest or random.
 */
export type BlobKey = `${string}/${string}`;

/** The size and digest that an incoming blob must have. */
export interface Expected {
  size_bytes: number;
  /** In hexadecimal, lower case. */
  sha256: string;
}

/** The limits of an incoming blob of unknown size. */
export interface Bounded {
  at_most_bytes: number;
}

/** The received bytes do not match the announcement, or are too many. */
export class BlobMismatch extends Error {
  override name = 'BlobMismatch';
  readonly what: 'size' | 'digest';
  constructor(what: 'size' | 'digest') {
    super(`The ${what} is not the one that was announced.`);
    this.what = what;
  }
}

/** A received blob on disk that is not visible yet. Either `keep` or `discard` must follow. */
export interface ReceivedBlob {
  size_bytes: number;
  /** In hexadecimal, lower case. */
  sha256: string;
  /** Gives it its final name, atomically and durably, and replaces an older one. */
  keep(key: BlobKey): Promise<void>;
  /** Deletes it; does nothing after `keep`. */
  discard(): Promise<void>;
}

/** Bytes `start` to `end`, both included and counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface Blobs {
  /**
   * Receives a stream in constant memory and checks it against the announcement or the limits. A stream that fails or does not match leaves nothing behind.
   * The stream itself is not destroyed, so that a reply can still be sent on its connection.
   * @throws BlobMismatch, and the stream's own errors
   */
  receive(source: Readable, expected: Expected | Bounded): Promise<ReceivedBlob>;
  /** A blob as a stream, which must be read or destroyed; undefined when there is none. */
  read(key: BlobKey, range?: ByteRange): Promise<Readable | undefined>;
  /** Deletes a blob. Readers that have opened it are not affected. Deleting a missing blob is no error. */
  remove(key: BlobKey): Promise<void>;
  /**
   * Deletes the remains of uploads that were killed.
   * @param older_than_ms the time since the last write
   * @returns how many files
   */
  sweep(older_than_ms: number): Promise<number>;
}
