/** A bound on how often something is done. Each process counts for itself. */
import { LRUCache } from 'lru-cache';

export class Throttle {
  readonly #times: number;
  readonly #window_ms: number;
  readonly #done: LRUCache<number, number[]>;

  /** Allows `times` for each key in any stretch of `window_ms`. */
  constructor(times: number, window_ms: number) {
    this.#times = times;
    this.#window_ms = window_ms;
    this.#done = new LRUCache({ max: 10_000 });
  }

  /** Whether it may be done now; if so it counts as done. */
  admits(key: number): boolean {
    const now = performance.now();
    const recent = (this.#done.get(key) ?? []).filter((time) => now - time < this.#window_ms);
    if (recent.length < this.#times) recent.push(now);
    else return false;
    this.#done.set(key, recent);
    return true;
  }
}
