/** Parses large JSON and form texts in a separate thread: on the main thread, 100 MB would block every other request for a quarter of a second or longer. */
import { Worker } from 'node:worker_threads';
import { programFile } from '../foundation/installation.ts';
import { badParams } from './errors.ts';

/** A message to the thread: another chunk of a text, or its end with the type to parse it as, or without one to discard it. */
export type ToParser = { id: number; chunk: Uint8Array } | { id: number; end: 'json' | 'form' | 'forget' };
/** The thread's reply to a complete text. */
export type FromParser = { id: number; value: unknown } | { id: number; refusal: string };

/** The thread's heap keeps the size of the largest text, so an idle thread is terminated after this time. */
const idle_ms = 30_000;

/**
 * Longer texts come from the thread as UTF-8, which is handed over. A string would be copied in one turn of the event loop: 100 MB take 80 ms. No text in
 * the database is longer (docs/operating.md#limits).
 */
export const maximumString_chars = 1_048_576;

let thread: Worker | undefined;
let lastId = 0;
let idleTimer: NodeJS.Timeout | undefined;
const waiting = new Map<number, PromiseWithResolvers<unknown>>();

function running(): Worker {
  clearTimeout(idleTimer);
  if (thread) return thread;
  const started = new Worker(programFile('http/large_text_worker'));
  started.unref();
  started.on('message', (answer: FromParser) => {
    const { id } = answer;
    if ('value' in answer) waiting.get(id)?.resolve(answer.value);
    else waiting.get(id)?.reject(badParams(answer.refusal));
    forget(id);
  });
  const end = (error: Error) => {
    if (thread === started) thread = undefined;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  started.on('error', end);
  started.on('exit', () => end(new Error('The thread that parses large texts ended.')));
  thread = started;
  return started;
}

function forget(id: number): void {
  waiting.delete(id);
  if (waiting.size > 0) return;
  clearTimeout(idleTimer);
  idleTimer = setTimeout(() => void thread?.terminate(), idle_ms).unref();
}

/** A text that is sent to the thread while it arrives. */
export class LargeText {
  readonly #id = ++lastId;
  readonly #thread: Worker;
  readonly #parsed = Promise.withResolvers<unknown>();

  constructor() {
    this.#thread = running();
    this.#parsed.promise.catch(() => {}); // It may fail before `parse` is called.
    waiting.set(this.#id, this.#parsed);
  }

  add(chunk: Uint8Array): void {
    this.#tell({ id: this.#id, chunk });
  }

  /**
   * The parsed text; for a form, its name-value pairs. Strings of more than `maximumString_chars` are UTF-8 in a `Uint8Array`.
   * @throws ApiError 400 for a malformed text
   */
  parse(as: 'json' | 'form'): Promise<unknown> {
    this.#tell({ id: this.#id, end: as });
    return this.#parsed.promise;
  }

  /** Discards an incomplete text. */
  forget(): void {
    this.#tell({ id: this.#id, end: 'forget' });
    forget(this.#id);
  }

  #tell(message: ToParser): void {
    this.#thread.postMessage(message);
  }
}
