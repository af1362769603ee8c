/** An uploaded file, as handlers receive it. */
import type { BlobKey, ReceivedBlob } from '../blobs/index.ts';

/** A received file, which is deleted unless it is kept. */
export class UploadedFile {
  /** The base name that the client sent; never empty. */
  readonly name: string;
  readonly size_bytes: number;
  /** In hexadecimal, lower case. */
  readonly sha256: string;
  readonly #blob: ReceivedBlob;
  constructor(name: string, blob: ReceivedBlob) {
    this.name = name;
    this.size_bytes = blob.size_bytes;
    this.sha256 = blob.sha256;
    this.#blob = blob;
  }

  /** Stores it permanently. */
  keep(key: BlobKey): Promise<void> {
    return this.#blob.keep(key);
  }

  /** Deletes it; does nothing after `keep`. */
  discard(): Promise<void> {
    return this.#blob.discard();
  }
}
