/** An uploaded file, as handlers receive it. */
import type { BlobKey, ReceivedBlob } from '../blobs/index.ts';

/** A received file, which is deleted unless it is kept. */
export class UploadedFile {
  /** The base name that the client sent; never empty. */
  readonly name: string;
  /** Its unique key in the blob store. */
  readonly key: BlobKey;
  readonly size_bytes: number;
  /** In hexadecimal, lower case. */
  readonly sha256: string;
  readonly #blob: ReceivedBlob;
  constructor(name: string, blob: ReceivedBlob) {
    this.name = name;
    this.key = blob.key;
    this.size_bytes = blob.size_bytes;
    this.sha256 = blob.sha256;
    this.#blob = blob;
  }

  /** Stores it permanently. */
  keep(): Promise<void> {
    return this.#blob.keep();
  }

  /** Deletes it; does nothing after `keep`. */
  discard(): Promise<void> {
    return this.#blob.discard();
  }
}
