/** Slots for short work. Clients take turns, and one client has at most half of the slots, so that the work of another starts at once. */
import { currentOwner } from './clients.ts';
import { FairQueue } from './fair_queue.ts';
import { TooMuchWaiting } from './fair_threads.ts';

export class Turns {
  readonly #slots: number;
  readonly #mostWaiting: number;
  readonly #waiting = new FairQueue<() => void>();
  /** How many slots each client has. */
  readonly #taken = new Map<string, number>();
  #free: number;

  /** @param mostWaiting the maximum number of waiting tasks per client */
  constructor(slots: number, mostWaiting: number) {
    this.#slots = slots;
    this.#free = slots;
    this.#mostWaiting = mostWaiting;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Runs work for the current client in a slot, when its turn has come.
   * @throws TooMuchWaiting
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const owner = currentOwner();
    if (this.#waiting.lengthOf(owner) >= this.#mostWaiting)
      throw new TooMuchWaiting('The client has too much waiting.');
    const turn = Promise.withResolvers<void>();
    this.#waiting.add(owner, () => {
      this.#free--;
      this.#taken.set(owner, (this.#taken.get(owner) ?? 0) + 1);
      turn.resolve();
    });
    this.#advance();
    await turn.promise;
    try {
      return await work();
    } finally {
      this.#free++;
      const left = this.#taken.get(owner)! - 1;
      if (left > 0) this.#taken.set(owner, left);
      else this.#taken.delete(owner);
      this.#advance();
    }
  }

  #advance(): void {
    while (this.#free > 0) {
      const start = this.#waiting.take((owner) => (this.#taken.get(owner) ?? 0) >= this.#slots / 2);
      if (!start) return;
      start();
    }
  }
}
