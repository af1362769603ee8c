/** Caches with a limit, which drop what was not used for longest. */
import { LRUCache } from 'lru-cache';

/**
 * A cache of at most `most` entries. lru-cache reserves the space of all entries when it is told their number; told a size, it grows as it is filled.
 * @param options `ttl` is how long an entry is kept, in milliseconds; without it, as long as there is room
 */
export const cacheOf = <Key extends {}, Value extends {}>(most: number, options: { ttl?: number } = {}): LRUCache<Key, Value> =>
  new LRUCache<Key, Value>({ maxSize: most, sizeCalculation: () => 1, ...options });

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
