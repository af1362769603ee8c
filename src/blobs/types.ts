/** The interface of blob storage: a folder and an object store implement it. */
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

/** The received bytes do not match the announcement, or exceed the limits. */
export class BlobMismatch extends Error {
  override name = 'BlobMismatch';
  readonly what: 'size' | 'digest';
  constructor(what: 'size' | 'digest') {
    super(`The ${what} is not the one that was announced.`);
    this.what = what;
  }
}

/** The store is unreachable or refuses the request. The message is for logs and operators, and contains no credential. */
export class BlobStoreError extends Error {
  override name = 'BlobStoreError';
}

/** A received blob that is not visible yet. Either `keep` or `discard` must follow. */
export interface ReceivedBlob {
  readonly key: BlobKey;
  readonly size_bytes: number;
  /** In hexadecimal, lower case. */
  readonly sha256: string;
  /** Makes it visible under its key, atomically and durably, and replaces an older one. */
  keep(): Promise<void>;
  /** Deletes it; does nothing after `keep`. */
  discard(): Promise<void>;
}

/** A blob that is in the store. */
export interface StoredBlob {
  key: BlobKey;
  size_bytes: number;
  /** In milliseconds since 1970. */
  changed_at_ms: number;
}

/** Bytes `start` to `end`, both included and counted from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

/** A bucket of an object store. */
export interface S3Place {
  kind: 's3';
  bucket: string;
  /** The prefix of the names of all objects: empty, or a path that ends with a slash. */
  prefix: string;
  /** The base URL of the store; left out for Amazon S3. */
  endpoint: string | undefined;
  region: string;
  /** Whether URLs contain the bucket in their path instead of the host name. */
  path_style: boolean;
}

/** Where blobs are stored. */
export type BlobPlace = { kind: 'folder'; path: string } | S3Place;

/** While an object store is unreachable or refuses requests, every method throws BlobStoreError; for a folder, the errors of the file system. */
export interface Blobs {
  /** The name of the store for operators: the path of a folder, or `s3://bucket/prefix`. */
  readonly address: string;
  /**
   * Receives a stream in constant memory and checks it against the announcement or the limits. A stream that fails or does not match leaves nothing behind.
   * The stream itself is not destroyed, so that a reply can still be sent on its connection.
   * @throws BlobMismatch, and the stream's own errors
   */
  receive(key: BlobKey, source: Readable, expected: Expected | Bounded): Promise<ReceivedBlob>;
  /** A blob as a stream, which must be read or destroyed; undefined when there is none. */
  read(key: BlobKey, range?: ByteRange): Promise<Readable | undefined>;
  /** The size and age of a blob; undefined when there is none. */
  stat(key: BlobKey): Promise<StoredBlob | undefined>;
  /**
   * The keys of all blobs, in the order of the store. One may be deleted before it is read.
   * @param kind only those of a kind
   */
  keys(kind?: string): AsyncIterable<BlobKey>;
  /** The location of a blob for operators: the path of its file, or its address in the object store. */
  placeOf(key: BlobKey): string;
  /**
   * Moves a blob that no row seems to reference out of the way. It is not deleted: the database may be older than the blobs.
   * @returns its new location
   */
  setAside(key: BlobKey): Promise<string>;
  /** Deletes a blob. Readers that have opened it are not affected. Deleting a missing blob is no error. */
  remove(key: BlobKey): Promise<void>;
  /**
   * Deletes the remains of uploads that were killed.
   * @param older_than_ms the time since the last write
   * @returns how many
   */
  sweep(older_than_ms: number): Promise<number>;
}
