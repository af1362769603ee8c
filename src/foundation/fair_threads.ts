/** Processes files of users in threads that do one piece of work at a time. The owners of the files take turns (docs/decisions/0068-files-of-users-are-read-in-turns.md). */
import type { Transferable } from 'node:worker_threads';
import { FairQueue } from './fair_queue.ts';
import { LimitedThread, OverBudget, type ThreadLimits } from './limited_thread.ts';

export interface FairLimits extends ThreadLimits {
  /** The maximum number of waiting pieces of work per owner. */
  mostWaiting: number;
  /** The most threads; two unless given: with one more than an owner has, the work of one never keeps the others waiting. */
  most_threads?: number;
  /** The most pieces of work of one owner at once; one unless given. */
  most_per_owner?: number;
}

export interface Work {
  /** The owner of the work: the id of a project, or the current client (`currentOwner`). */
  owner: number | string;
  /** A key for work of the same cost: when one piece is too costly, the waiting pieces with this key are, too. */
  content: string;
  /** Cancels the work while it waits. */
  signal?: AbortSignal | undefined;
  /** Memory and ports of the request that are transferred to the thread. */
  moved?: readonly Transferable[];
}

/** The owner has too much work waiting. */
export class TooMuchWaiting extends Error {
  override name = 'TooMuchWaiting';
}

interface Call<Request, Answer> extends Work {
  source: string;
  request: Request;
  answer: PromiseWithResolvers<Answer>;
}

/** How long work waits before a further thread is started for it. */
const patience_ms = 100;

export class FairThreads<Request, Answer> {
  readonly #program: string;
  readonly #limits: FairLimits;
  readonly #waiting = new FairQueue<Call<Request, Answer>>();
  /** How many pieces of work are being done for each owner; none is 0. */
  readonly #busy = new Map<string, number>();
  #busyThreads = 0;
  #idle: LimitedThread<Request, Answer>[] = [];
  #patience: NodeJS.Timeout | undefined;

  /** @param program the file name of the thread's program, which answers each message with one */
  constructor(program: string, limits: FairLimits) {
    this.#program = program;
    this.#limits = limits;
  }

  /** Starts a thread if there is none, so that it is ready when the input has been fetched. */
  wake(): void {
    if (this.#busyThreads === 0) this.#idle.push(this.#idleThread() ?? this.#started());
  }

  /**
   * Does a piece of work when its turn has come.
   * @throws OverBudget, TooMuchWaiting, and the reason of the signal
   */
  async run(request: Request, work: Work): Promise<Answer> {
    const { signal } = work;
    const source = String(work.owner);
    signal?.throwIfAborted();
    if (this.#waiting.lengthOf(source) >= this.#limits.mostWaiting)
      throw new TooMuchWaiting('The owner has too much work waiting.');
    const call = { ...work, source, request, answer: Promise.withResolvers<Answer>() };
    this.#waiting.add(source, call);
    const drop = () => this.#drop((each) => each === call, signal!.reason);
    signal?.addEventListener('abort', drop, { once: true });
    this.#advance();
    try {
      return await call.answer.promise;
    } finally {
      signal?.removeEventListener('abort', drop);
    }
  }

  #started(): LimitedThread<Request, Answer> {
    return new LimitedThread(this.#program, this.#limits);
  }

  #idleThread(): LimitedThread<Request, Answer> | undefined {
    this.#idle = this.#idle.filter(({ isEnded }) => !isEnded);
    return this.#idle.pop();
  }

  /** Assigns the work of the next owners to idle threads. */
  #advance(): void {
    clearTimeout(this.#patience);
    const { most_threads = 2, most_per_owner = 1 } = this.#limits;
    while (this.#waiting.length > 0) {
      const thread = this.#idleThread() ?? (this.#busyThreads === 0 ? this.#started() : undefined);
      if (!thread) {
        if (this.#busyThreads < most_threads) this.#patience = setTimeout(() => this.#addThread(), patience_ms);
        return;
      }
      const call = this.#waiting.take((source) => (this.#busy.get(source) ?? 0) >= most_per_owner);
      if (call) void this.#work(thread, call);
      else {
        this.#idle.push(thread);
        return;
      }
    }
  }

  #addThread(): void {
    this.#idle.push(this.#started());
    this.#advance();
  }

  async #work(thread: LimitedThread<Request, Answer>, call: Call<Request, Answer>): Promise<void> {
    const { source, request, content, moved = [], answer } = call;
    this.#count(source, 1);
    try {
      answer.resolve(await thread.run(request, moved));
    } catch (error) {
      answer.reject(error);
      if (error instanceof OverBudget) this.#drop((other) => other.content === content, error);
    }
    this.#count(source, -1);
    this.#idle.push(thread);
    this.#advance();
  }

  #count(source: string, more: 1 | -1): void {
    const count = (this.#busy.get(source) ?? 0) + more;
    if (count > 0) this.#busy.set(source, count);
    else this.#busy.delete(source);
    this.#busyThreads += more;
  }

  #drop(isMeant: (call: Call<Request, Answer>) => boolean, reason: unknown): void {
    for (const { answer } of this.#waiting.remove(isMeant)) answer.reject(reason);
  }
}
