/** A thread that does one piece of work after another, each with limits of memory and processor time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Transferable, Worker } from 'node:worker_threads';
import { programFile } from './installation.ts';

/** The work exceeded its budget, and would exceed it again. */
export class OverBudget extends Error {
  override name = 'OverBudget';
  readonly resource: 'time' | 'memory';

  constructor(resource: 'time' | 'memory') {
    super(`the work takes too much ${resource}`);
    this.resource = resource;
  }
}

export interface ThreadLimits {
  /** The memory limit of the thread. */
  heap_mib: number;
  /** The processor time limit of a piece of work: a busy machine does not make it more costly. */
  budget_ms: number;
}

/** Work ends after this many budgets of wall time in any case: native code does not report its processor time. */
const maximumBudgets = 10;
/** A thread keeps the memory of its largest work, so an idle one is ended after this time. */
const idle_ms = 30_000;

const isOutOfMemory = (error: Error) => 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';

export class LimitedThread<Request, Answer> {
  readonly #worker: Worker;
  readonly #budget_ms: number;
  #current: PromiseWithResolvers<Answer> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  /** @param program the name of its file, which answers each message with one */
  constructor(program: string, { heap_mib, budget_ms }: ThreadLimits) {
    this.#budget_ms = budget_ms;
    this.#worker = new Worker(programFile(program), { resourceLimits: { maxOldGenerationSizeMb: heap_mib } });
    this.#worker.on('message', (answer: Answer) => this.#settle()?.resolve(answer));
    this.#worker.on('error', (error) => this.#end(isOutOfMemory(error) ? new OverBudget('memory') : error));
    this.#worker.on('exit', () => this.#end(new Error(`The thread ${program} ended.`)));
    this.#rest();
  }

  /** Whether the thread accepts work. It does not after a failure. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /**
   * Does a piece of work; callers must not overlap calls.
   * @param moved memory and ports that are transferred to the thread
   * @throws OverBudget
   */
  run(request: Request, moved: readonly Transferable[]): Promise<Answer> {
    const current = Promise.withResolvers<Answer>();
    this.#current = current;
    clearTimeout(this.#timer);
    this.#worker.ref();
    void this.#watch();
    this.#worker.postMessage(request, moved);
    return current.promise;
  }

  /** Ends the thread when its work has used its budget. */
  async #watch(): Promise<void> {
    const since = performance.now();
    const current = this.#current;
    // A thread that has not started reports no processor time; all of its processor time is then counted.
    const before = await this.#worker.cpuUsage().catch(() => undefined);
    const look = async () => {
      const used = await Promise.race([
        this.#worker.cpuUsage(before).catch(() => undefined),
        sleep(this.#budget_ms, undefined, { ref: false }),
      ]);
      if (this.#current !== current) return;
      const left_ms = this.#budget_ms - (used ? (used.user + used.system) / 1000 : 0);
      const isOver = left_ms <= 0 || performance.now() - since > maximumBudgets * this.#budget_ms;
      if (isOver) this.#end(new OverBudget('time'));
      else this.#timer = setTimeout(look, left_ms);
    };
    if (this.#current === current && !this.#isEnded) this.#timer = setTimeout(look, this.#budget_ms);
  }

  #settle(): PromiseWithResolvers<Answer> | undefined {
    const current = this.#current;
    this.#current = undefined;
    this.#rest();
    return current;
  }

  /** An idle thread does not keep the process alive. */
  #rest(): void {
    clearTimeout(this.#timer);
    this.#worker.unref();
    this.#timer = setTimeout(() => this.#end(new Error('The thread rested.')), idle_ms).unref();
  }

  #end(error: Error): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#timer);
    void this.#worker.terminate();
    this.#current?.reject(error);
    this.#current = undefined;
  }
}
