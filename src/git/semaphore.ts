/** A bound on how many of something run at once; the others wait in the order in which they came. */
export class Slots {
  #free: number;
  readonly #longest_queue: number;
  readonly #waiting: (() => void)[] = [];

  /** `longest_queue` is how many may wait; a caller whose own list is bounded leaves it out. */
  constructor(count: number, longest_queue = Number.POSITIVE_INFINITY) {
    this.#free = count;
    this.#longest_queue = longest_queue;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs `work` when a slot is free, and gives back what it gives. Throws when too many are waiting already. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else if (this.#waiting.length >= this.#longest_queue) throw new Error('the server is too busy: too many are waiting for git');
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The slot passes straight to the next in line, so that a newcomer cannot overtake.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
