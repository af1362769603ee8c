/** Envelopes: a head and items, each with a head of its own, read while they arrive (docs/reference/error_tracking.md). */
import type { Json, JsonObject } from './payload_rules.ts';
import { isObject } from './payload_rules.ts';

/** An envelope is not as it has to be. */
export class Malformed extends Error {}
/** An item that would be kept is larger than it may be. */
export class ItemTooLarge extends Error {}

export interface Item {
  type: string;
  payload: Buffer;
}

export interface EnvelopeReader {
  /** Called with the head before anything else is read; what it throws ends the reading. */
  onHead(head: JsonObject): void | Promise<void>;
  /** The most bytes that an item of a type may have; 0 skips it. */
  limitOf(type: string): number;
}

const longestHead_bytes = 64 * 1024;
const lineFeed = 0x0a;

const parsed = (text: string): Json => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    throw new Malformed();
  }
};

function objectIn(line: Buffer): JsonObject {
  const head = parsed(line.toString());
  if (!isObject(head)) throw new Malformed();
  return head;
}

/** Takes bytes from chunks as they arrive. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>;
  #current: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** @returns whether there is any byte left */
  async #fill(): Promise<boolean> {
    while (this.#current.length === 0) {
      const { value, done } = await this.#chunks.next();
      if (done) return false;
      this.#current = value;
    }
    return true;
  }

  #take(count: number): Buffer {
    const taken = this.#current.subarray(0, count);
    this.#current = this.#current.subarray(count);
    return taken;
  }

  /**
   * The bytes up to a line feed, which is taken too, or up to the end; undefined at the end.
   * @param limit of what is kept
   * @param tooLong what is thrown beyond the limit; without it, what exceeds the limit is lost
   */
  async line(limit: number, tooLong?: () => Error): Promise<Buffer | undefined> {
    const kept: Buffer[] = [];
    let length = 0;
    let hasAny = false;
    while (await this.#fill()) {
      hasAny = true;
      const end = this.#current.indexOf(lineFeed);
      const part = this.#take(end < 0 ? this.#current.length : end);
      length += part.length;
      if (length <= limit) kept.push(part);
      else if (tooLong) throw tooLong();
      if (end < 0) continue;
      this.#take(1);
      break;
    }
    return hasAny ? Buffer.concat(kept) : undefined;
  }

  /** Exactly so many bytes; only read when they are not wanted. */
  async exactly(count: number, isWanted: boolean): Promise<Buffer> {
    const kept: Buffer[] = [];
    for (let left = count; left > 0; ) {
      if (!(await this.#fill())) throw new Malformed();
      const part = this.#take(Math.min(left, this.#current.length));
      left -= part.length;
      if (isWanted) kept.push(part);
    }
    return Buffer.concat(kept);
  }

  /** Takes a line feed, or nothing at the end. */
  async endOfItem(): Promise<void> {
    if ((await this.#fill()) && this.#take(1)[0] !== lineFeed) throw new Malformed();
  }
}

async function payloadOf(bytes: Bytes, head: JsonObject, limit: number): Promise<Buffer> {
  const { length } = head;
  if (length === undefined) {
    const line = await bytes.line(limit, limit > 0 ? () => new ItemTooLarge() : undefined);
    return line ?? Buffer.alloc(0);
  }
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) throw new Malformed();
  if (limit > 0 && length > limit) throw new ItemTooLarge();
  const payload = await bytes.exactly(length, limit > 0);
  await bytes.endOfItem();
  return payload;
}

/**
 * Reads an envelope.
 * @param chunks decompressed bytes
 * @returns the items that have a limit, in their order
 * @throws Malformed, ItemTooLarge, and what `onHead` throws
 */
export async function readEnvelope(chunks: AsyncIterable<Buffer>, { onHead, limitOf }: EnvelopeReader): Promise<Item[]> {
  const bytes = new Bytes(chunks);
  const tooLong = () => new Malformed();
  const first = await bytes.line(longestHead_bytes, tooLong);
  if (first === undefined) throw new Malformed();
  await onHead(objectIn(first));
  const items: Item[] = [];
  for (;;) {
    const line = await bytes.line(longestHead_bytes, tooLong);
    if (line === undefined) return items;
    // An empty line between items, or at the end.
    if (line.length === 0) continue;
    const head = objectIn(line);
    if (typeof head.type !== 'string') throw new Malformed();
    const limit = limitOf(head.type);
    const payload = await payloadOf(bytes, head, limit);
    if (limit > 0) items.push({ type: head.type, payload });
  }
}

/**
 * The JSON of an item.
 * @throws Malformed
 */
export const jsonIn = ({ payload }: Item): Json => parsed(payload.toString());
