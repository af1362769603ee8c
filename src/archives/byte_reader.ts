/** Reads a byte stream in portions of the size that the caller requests. */
import { InvalidContent } from './errors.ts';

export class ByteReader implements AsyncDisposable {
  readonly #chunks: AsyncGenerator<Buffer>;
  #rest: Buffer | undefined;

  constructor(source: AsyncGenerator<Buffer>) {
    this.#chunks = source;
  }

  /** The next bytes as they arrive, at most this many and at least one; undefined at the end. */
  async some(most_bytes: number): Promise<Buffer | undefined> {
    while (!this.#rest?.length) {
      const { value, done } = await this.#chunks.next();
      if (done) return undefined;
      this.#rest = value;
    }
    return this.#take(most_bytes);
  }

  #take(most_bytes: number): Buffer {
    const portion = this.#rest!.subarray(0, most_bytes);
    this.#rest = this.#rest!.subarray(portion.length);
    return portion;
  }

  /**
   * The next bytes; undefined at the end.
   * @throws InvalidContent when there are fewer
   */
  async exactly(size_bytes: number): Promise<Buffer | undefined> {
    // Headers are many and small.
    if (this.#rest && this.#rest.length >= size_bytes) return this.#take(size_bytes);
    const chunks: Buffer[] = [];
    for (let left_bytes = size_bytes; left_bytes > 0; ) {
      const chunk = await this.some(left_bytes);
      if (!chunk && chunks.length === 0) return undefined;
      if (!chunk) throw new InvalidContent('The archive is broken off.');
      chunks.push(chunk);
      left_bytes -= chunk.length;
    }
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
  }

  /** Stops reading and destroys the source. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#chunks.return(undefined);
  }
}
