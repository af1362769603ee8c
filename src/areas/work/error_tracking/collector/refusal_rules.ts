/** Delays refusals, so that guessing keys, or an application that keeps using a deleted key, costs the server next to nothing. */
import { cacheOf } from '../../../../foundation/caches.ts';

/** The most clients that are tracked. */
const maximumClients = 10_000;
const window_ms = 10_000;
/** The number of refusals of a client within the window that are answered without delay. */
const atOnce = 20;
/** The average delay, so that an address sends about as many requests per second as it has connections. */
const pause_ms = 1000;

/** Counts the refusals of clients. */
export class Refusals {
  readonly #recent = cacheOf<string, { since: number; count: number }>(maximumClients);

  /**
   * Counts a refusal.
   * @param address the client's address
   * @param now the time in milliseconds
   * @returns the delay of the reply in milliseconds; randomised, because clients with equal delays return together
   */
  pauseFor(address: string, now: number): number {
    const recent = this.#since(address, now);
    recent.count++;
    this.#recent.set(address, recent);
    return recent.count > atOnce ? pause_ms * (0.5 + Math.random()) : 0;
  }

  /** Whether a client was refused so rarely that the reason for refusing it should be checked again. */
  areFew(address: string, now: number): boolean {
    return this.#since(address, now).count < atOnce;
  }

  #since(address: string, now: number): { since: number; count: number } {
    const known = this.#recent.get(address);
    return known && now - known.since < window_ms ? known : { since: now, count: 0 };
  }
}
