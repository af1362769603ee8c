/** How long refusals wait, so that trying keys, or an application that keeps its deleted one, costs the server next to nothing. */
import { cacheOf } from '../../../../foundation/caches.ts';

/** So many clients are remembered. */
const maximumClients = 10_000;
const window_ms = 10_000;
/** Refusals of a client in the window that are answered at once. */
const atOnce = 20;
/** On average, so that an address sends about as many requests a second as it has connections. */
const pause_ms = 1000;

/** Counts the refusals of clients. */
export class Refusals {
  readonly #recent = cacheOf<string, { since: number; count: number }>(maximumClients);

  /**
   * Counts a refusal.
   * @param address of the client
   * @param now the time in milliseconds
   * @returns how long its answer waits, in milliseconds; varied, because clients that wait equally long come back together
   */
  pauseFor(address: string, now: number): number {
    const recent = this.#since(address, now);
    recent.count++;
    this.#recent.set(address, recent);
    return recent.count > atOnce ? pause_ms * (0.5 + Math.random()) : 0;
  }

  /** Whether a client has been refused so seldom that what would refuse it is worth a second look. */
  areFew(address: string, now: number): boolean {
    return this.#since(address, now).count < atOnce;
  }

  #since(address: string, now: number): { since: number; count: number } {
    const known = this.#recent.get(address);
    return known && now - known.since < window_ms ? known : { since: now, count: 0 };
  }
}
