/** The lines of a compressed file. */
import { unpacked } from './unpacking.ts';

/** The maximum size of a line. */
const maximumLine_bytes = 50_000_000;
const lineFeed = 0x0a;

export interface Line {
  /** From 1. */
  number: number;
  /** Without its line feed; undefined for a line above 50 MB, which is not kept. */
  bytes: Buffer | undefined;
}

/** An incomplete line. */
class OpenLine {
  #chunks: Buffer[] = [];
  #size_bytes = 0;
  readonly #isWanted: boolean;

  constructor(isWanted: boolean) {
    this.#isWanted = isWanted;
  }

  get isEmpty(): boolean {
    return this.#size_bytes === 0;
  }

  get bytes(): Buffer | undefined {
    return this.#size_bytes <= maximumLine_bytes ? Buffer.concat(this.#chunks) : undefined;
  }

  add(chunk: Buffer): void {
    this.#size_bytes += chunk.length;
    if (this.#size_bytes > maximumLine_bytes) this.#chunks = [];
    else if (this.#isWanted && chunk.length > 0) this.#chunks.push(chunk);
  }
}

/**
 * The lines of a gzip stream, one after another, each in memory only while it is used. The last need not end with a line feed.
 * @param options.most_bytes of all lines together
 * @param options.from the number of the first line to give
 * @throws InvalidContent, LimitExceeded, and any error of the source
 */
export async function* linesOf(
  source: AsyncIterable<Uint8Array>,
  { most_bytes, from = 1 }: { most_bytes: number; from?: number },
): AsyncGenerator<Line> {
  let number = 1;
  let line = new OpenLine(number >= from);
  for await (const chunk of unpacked(source, most_bytes)) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end >= 0; end = chunk.indexOf(lineFeed, start)) {
      line.add(chunk.subarray(start, end));
      if (number >= from) yield { number, bytes: line.bytes };
      start = end + 1;
      line = new OpenLine(++number >= from);
    }
    line.add(chunk.subarray(start));
  }
  if (number >= from && !line.isEmpty) yield { number, bytes: line.bytes };
}
