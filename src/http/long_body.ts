/**
 * Long JSON and form bodies: kept in pages while they arrive, then checked and parsed in a thread. Clients take turns: however many bodies one of them sends, others
 * wait for two of these at most, and the main thread only takes over the values.
 */
import { currentOwner } from '../foundation/clients.ts';
import { FairThreads } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import { badParams } from './errors.ts';
import { tooLarge } from './multipart.ts';

/** A body in the form in which it is sent to the thread. */
export interface ToParser {
  pages: readonly Uint8Array[];
  as: 'json' | 'form';
}

/** The value, for a form its name-value pairs; the text where the value would take longer to transfer than to parse; or the reason for refusing the body. */
export type FromParser = { value: unknown } | { text: Uint8Array } | { refusal: string };

/** Shorter bodies are parsed on the main thread: it takes less than a millisecond. */
export const shortBody_bytes = 64 * 1024;

const page_bytes = 1024 * 1024;

const threads = new FairThreads<ToParser, FromParser>('http/long_body_worker', {
  // The memory for a body of 100 MB as text and again as values, each with two bytes per character.
  heap_mib: 1024,
  budget_ms: 10_000,
  mostWaiting: 1000,
});

/** The bytes of a body. Chunks of the network are copied, so that the memory can be transferred to the thread as it is. */
export class Pages {
  readonly #full: Uint8Array<ArrayBuffer>[] = [];
  #page = new Uint8Array(shortBody_bytes);
  #used = 0;

  add(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#used === this.#page.length) this.#turn();
      const part = chunk.subarray(at, at + this.#page.length - this.#used);
      this.#page.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
    }
  }

  #turn(): void {
    if (this.#full.length === 0) threads.wake();
    this.#full.push(this.#page);
    this.#page = new Uint8Array(page_bytes);
    this.#used = 0;
  }

  get pages(): Uint8Array<ArrayBuffer>[] {
    return [...this.#full, this.#page.subarray(0, this.#used)];
  }
}

let count = 0;

/**
 * Checks and parses a long body. Strings of more than `maximumString_chars` are UTF-8 in a `Uint8Array`. The memory of the body is given away.
 * @returns the value, for a form its name-value pairs; or the text, which has passed the checks
 * @throws ApiError 400 for a body that is malformed or holds too much, 413 for one that takes too long to parse; TooMuchWaiting when a thousand of this client wait
 */
export async function parseLong(body: Pages, as: ToParser['as']): Promise<{ value: unknown } | { text: string }> {
  const { pages } = body;
  // The cost of one body tells nothing about another.
  const work = { owner: currentOwner(), content: String(++count), moved: pages.map(({ buffer }) => buffer) };
  try {
    const answer = await threads.run({ pages, as }, work);
    if ('refusal' in answer) throw badParams(answer.refusal);
    return 'text' in answer ? { text: Buffer.from(answer.text.buffer).toString() } : answer;
  } catch (error) {
    if (error instanceof OverBudget) throw tooLarge();
    throw error;
  }
}
