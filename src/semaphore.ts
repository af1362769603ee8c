/** Limits how many tasks run at once; the others wait in order. */
export class Semaphore {
  #free: number;
  readonly #longest_queue: number;
  readonly #waiting: (() => void)[] = [];

  /** `longest_queue` is how many may wait; callers with a bounded list of tasks leave it out. */
  constructor(count: number, longest_queue = Number.POSITIVE_INFINITY) {
    this.#free = count;
    this.#longest_queue = longest_queue;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Runs `work` when a slot is free and returns its result. Throws when too many tasks are waiting. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else if (this.#waiting.length >= this.#longest_queue) throw new Error('the server is too busy: too many are waiting for git');
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The slot goes directly to the next task in the queue, so that a new one cannot overtake it.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
