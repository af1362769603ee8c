/** Envelopes: a header and items, each with its own header, parsed as they arrive (docs/reference/error_tracking.md). */
import type { Json, JsonObject } from '../payload/rules.ts';
import { isObject } from '../payload/rules.ts';

/** An envelope is invalid. */
export class Malformed extends Error {}
/** An item that would be stored is too large. */
export class ItemTooLarge extends Error {}

export interface Item {
  type: string;
  payload: Buffer;
}

export interface ItemLimit {
  bytes: number;
  /** Whether a larger item is skipped instead of refused. */
  skipsLarger?: boolean;
}

export interface EnvelopeReader {
  /** Called with the header before anything else is read; an error thrown by it aborts the parser. */
  onHead(head: JsonObject): void | Promise<void>;
  /** Called for each item: returns its size limit in bytes; 0 skips it. */
  limitOf(type: string): ItemLimit;
}

/**
 * The header of an envelope may contain the client key, so it is parsed before authentication. Its limit is below the bytes that must arrive in the first 30 seconds of a body
 * (docs/operating.md#limits): an unauthenticated client that has not sent all of it by then is refused.
 */
const maximumEnvelopeHead_bytes = 16 * 1024;
const maximumItemHead_bytes = 64 * 1024;
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

/** Reads bytes from chunks as they arrive. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>;
  #current: Buffer = Buffer.alloc(0);

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** @returns whether a byte is left */
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
   * Reads the bytes up to and including a line feed, or up to the end; undefined at the end.
   * @param limit of the bytes that are kept
   * @param tooLong creates the error to throw beyond the limit; without it, a longer line is returned as null
   */
  async line(limit: number, tooLong: () => Error): Promise<Buffer | undefined>;
  async line(limit: number, tooLong?: () => Error): Promise<Buffer | null | undefined>;
  async line(limit: number, tooLong?: () => Error): Promise<Buffer | null | undefined> {
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
    if (length > limit) return null;
    return hasAny ? Buffer.concat(kept) : undefined;
  }

  /** Reads exactly this many bytes; discards them if they are not wanted. */
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

  /** Reads a line feed, or nothing at the end. */
  async endOfItem(): Promise<void> {
    if ((await this.#fill()) && this.#take(1)[0] !== lineFeed) throw new Malformed();
  }
}

/** @returns undefined for a skipped item */
async function payloadOf(bytes: Bytes, head: JsonObject, limit: ItemLimit): Promise<Buffer | undefined> {
  const { length } = head;
  const isRefused = limit.bytes > 0 && !limit.skipsLarger;
  if (length === undefined) {
    const line = await bytes.line(limit.bytes, isRefused ? () => new ItemTooLarge() : undefined);
    return limit.bytes === 0 || line === null ? undefined : (line ?? Buffer.alloc(0));
  }
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 0) throw new Malformed();
  if (isRefused && length > limit.bytes) throw new ItemTooLarge();
  const isWanted = length <= limit.bytes && limit.bytes > 0;
  const payload = await bytes.exactly(length, isWanted);
  await bytes.endOfItem();
  return isWanted ? payload : undefined;
}

/**
 * Parses an envelope.
 * @param chunks decompressed bytes
 * @returns the items with a limit, in order
 * @throws Malformed, ItemTooLarge, and the errors of `onHead`
 */
export async function readEnvelope(
  chunks: AsyncIterable<Buffer>,
  { onHead, limitOf }: EnvelopeReader,
): Promise<Item[]> {
  const bytes = new Bytes(chunks);
  const tooLong = () => new Malformed();
  const first = await bytes.line(maximumEnvelopeHead_bytes, tooLong);
  if (first === undefined) throw new Malformed();
  await onHead(objectIn(first));
  const items: Item[] = [];
  for (;;) {
    const line = await bytes.line(maximumItemHead_bytes, tooLong);
    if (line === undefined) return items;
    // An empty line between items or at the end.
    if (line.length === 0) continue;
    const head = objectIn(line);
    if (typeof head.type !== 'string') throw new Malformed();
    const payload = await payloadOf(bytes, head, limitOf(head.type));
    if (payload !== undefined) items.push({ type: head.type, payload });
  }
}

/** Parsing more arrays, objects and members than this would block other requests. */
const maximumElements = 100_000;

/** @throws Malformed */
function checkElements(json: Uint8Array): void {
  if (json.length <= maximumElements) return;
  let elements = 0;
  let isInString = false;
  for (let place = 0; place < json.length; place++) {
    const byte = json[place]!;
    if (byte === 0x22) isInString = !isInString;
    else if (isInString) place += byte === 0x5c ? 1 : 0;
    else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) elements += 1;
  }
  if (elements > maximumElements) throw new Malformed();
}

/**
 * The JSON of an item.
 * @throws Malformed, also for too many elements
 */
export function jsonIn({ payload }: Item): Json {
  checkElements(payload);
  return parsed(payload.toString());
}

/** The JSON of an item, or undefined if it is invalid. */
export function jsonIfAny(item: Item): Json | undefined {
  try {
    return jsonIn(item);
  } catch {
    return undefined;
  }
}
