/** Caches with a limit, which drop what was not used for longest. */
import { LRUCache } from 'lru-cache';

/**
 * A cache of at most `most` entries. lru-cache reserves the space of all entries when it is given their number; given a size, it grows as it is filled.
 * @param options `ttl` is how long an entry is kept, in milliseconds; without it, as long as there is room
 */
export const cacheOf = <Key extends {}, Value extends {}>(
  most: number,
  options: { ttl?: number } = {},
): LRUCache<Key, Value> => new LRUCache<Key, Value>({ maxSize: most, sizeCalculation: () => 1, ...options });

/**
 * A cache of answers that never change, by a text for each question: `fetch` asks for those that are missing. Many who ask the same at a time get one answer. Failures and
 * `undefined` are not kept.
 * @param ask answers a question, which is the `context` of `fetch`
 * @param options for sizes; what is larger than `maxEntrySize` is not kept
 */
export const answersOf = <Question extends {}, Value extends {}>(
  ask: (question: Question) => Promise<Value | undefined>,
  options: Pick<LRUCache.Options<string, Value, Question>, 'maxEntrySize' | 'sizeCalculation'> & { maxSize: number },
): LRUCache<string, Value, Question> =>
  new LRUCache({
    ...options,
    fetchMethod: (_key, _stale, { context }) => ask(context),
    // One that is dropped before it has arrived is still what those get who wait for it.
    ignoreFetchAbort: true,
  });

/**
 * Lets many ask the same at a time: those who ask while an answer is on its way wait for the next one together, because what they ask for may have changed since the
 * question.
 */
export class JointQuestions<Key, Value> {
  readonly #ask: (key: Key) => Promise<Value>;
  readonly #open = new Map<Key, { answer: Promise<Value>; next: Promise<Value> | undefined }>();

  /** @param ask answers what holds when it is called */
  constructor(ask: (key: Key) => Promise<Value>) {
    this.#ask = ask;
  }

  /** @returns what holds now, or later; rejects as `ask` does */
  ask(key: Key): Promise<Value> {
    const open = this.#open.get(key);
    if (open === undefined) return this.#start(key);
    const start = () => this.#start(key);
    open.next ??= open.answer.then(start, start);
    return open.next;
  }

  #start(key: Key): Promise<Value> {
    const answer = this.#ask(key).finally(() => {
      if (this.#open.get(key) === open) this.#open.delete(key);
    });
    const open = { answer, next: undefined };
    this.#open.set(key, open);
    return answer;
  }
}
