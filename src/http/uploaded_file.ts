/** What a handler gets of a file that came with a call. */
import type { BlobKey, ReceivedBlob } from '../blobs/index.ts';

/** A file that has come in whole, and that nobody sees unless it is kept. */
export class UploadedFile {
  /** The last part of the name that the client gave it; never empty. */
  readonly name: string;
  readonly size_bytes: number;
  readonly #blob: ReceivedBlob;
  constructor(name: string, blob: ReceivedBlob) {
    this.name = name;
    this.size_bytes = blob.size_bytes;
    this.#blob = blob;
  }

  /** Puts it in its place for good. */
  keep(key: BlobKey): Promise<void> {
    return this.#blob.keep(key);
  }

  /** Removes it; after `keep` nothing. */
  discard(): Promise<void> {
    return this.#blob.discard();
  }
}
