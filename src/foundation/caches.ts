/** LRU caches with a size limit. */
import { LRUCache } from 'lru-cache';

/**
 * A cache of at most `most` entries. lru-cache reserves the space of all entries when it has a maximum number; with a maximum size, it grows as it is filled.
 * @param options `ttl` is how long an entry is kept, in milliseconds; without it, as long as there is room
 */
export const cacheOf = <Key extends {}, Value extends {}>(
  most: number,
  options: { ttl?: number } = {},
): LRUCache<Key, Value> => new LRUCache<Key, Value>({ maxSize: most, sizeCalculation: () => 1, ...options });

/**
 * A cache of immutable answers, by a text key per question: `fetch` loads missing ones. Concurrent requests for the same answer share one load. Failures and
 * `undefined` are not cached.
 * @param ask answers a question, which is the `context` of `fetch`
 * @param options for sizes; an answer larger than `maxEntrySize` is not cached
 */
export const answersOf = <Question extends {}, Value extends {}>(
  ask: (question: Question) => Promise<Value | undefined>,
  options: Pick<LRUCache.Options<string, Value, Question>, 'maxEntrySize' | 'sizeCalculation'> & { maxSize: number },
): LRUCache<string, Value, Question> =>
  new LRUCache({
    ...options,
    fetchMethod: (_key, _stale, { context }) => ask(context),
    // An entry that is evicted while it loads still resolves for the callers that wait for it.
    ignoreFetchAbort: true,
  });

/**
 * Merges concurrent requests for the same value: callers that arrive while a load is running wait together for the next one, because the value may have changed
 * since the running load started.
 */
export class JointQuestions<Key, Value> {
  readonly #ask: (key: Key) => Promise<Value>;
  readonly #open = new Map<Key, { answer: Promise<Value>; next: Promise<Value> | undefined }>();

  /** @param ask loads the current value */
  constructor(ask: (key: Key) => Promise<Value>) {
    this.#ask = ask;
  }

  /** @returns the value at the time of the call or later; rejects as `ask` does */
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
