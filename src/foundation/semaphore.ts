/** Limits how many tasks run at once; the others wait in order. */
export class Semaphore {
  #free: number;
  readonly #longest_queue: number;
  readonly #waiting: { start: () => void; since: number }[] = [];

  /** `longest_queue` is the maximum number of waiting tasks; callers with a bounded list of tasks leave it out. */
  constructor(count: number, longest_queue = Number.POSITIVE_INFINITY) {
    this.#free = count;
    this.#longest_queue = longest_queue;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** The longest current wait of a task, in milliseconds. */
  get delay_ms(): number {
    const [first] = this.#waiting;
    return first ? performance.now() - first.since : 0;
  }

  /**
   * Acquires a slot, or waits for one. The caller must release it. Throws when too many tasks are waiting.
   * @param longest_ms the maximum wait; an error with the code ETIMEDOUT is thrown after it
   */
  async take(longest_ms?: number): Promise<void> {
    if (this.#free > 0) this.#free--;
    else if (this.#waiting.length >= this.#longest_queue)
      throw new Error('the server is too busy: too many are waiting');
    else await this.#turn(longest_ms);
  }

  #turn(longest_ms: number | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      clearTimeout(timer);
      resolve();
    };
    const task = { start, since: performance.now() };
    const giveUp = () => {
      this.#waiting.splice(this.#waiting.indexOf(task), 1);
      reject(Object.assign(new Error('waited too long for a slot'), { code: 'ETIMEDOUT' }));
    };
    const timer = longest_ms === undefined ? undefined : setTimeout(giveUp, longest_ms);
    this.#waiting.push(task);
    return promise;
  }

  release(): void {
    // The slot goes directly to the next task in the queue, so that a new one cannot overtake it.
    const next = this.#waiting.shift();
    if (next) next.start();
    else this.#free++;
  }

  /** Runs `work` in a slot and returns its result. Throws when too many tasks are waiting. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    await this.take();
    try {
      return await work();
    } finally {
      this.release();
    }
  }
}
