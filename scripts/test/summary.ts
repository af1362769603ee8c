// Prints the results, like node:test does.
import { spec } from 'node:test/reporters';
import { inspect } from 'node:util';
import type { TestEvent } from './messages.ts';
import type { Outcome } from './runner.ts';

const slowest = 10;

export class Summary {
  readonly #printer = new spec();
  readonly #began = performance.now();
  readonly #durations: { file: string; duration_ms: number }[] = [];
  readonly #counts = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 };

  constructor() {
    this.#printer.pipe(process.stdout);
  }

  add({ file, duration_ms, events }: Outcome): void {
    this.#durations.push({ file, duration_ms });
    for (const event of events) {
      this.#count(event);
      this.#print(event);
    }
  }

  /** Prints the end, when everything has been added. */
  async end(): Promise<void> {
    const byDuration = this.#durations.toSorted((a, b) => b.duration_ms - a.duration_ms).slice(0, slowest);
    this.#say('slowest files');
    for (const { file, duration_ms } of byDuration)
      this.#say(`${(duration_ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
    for (const [name, count] of Object.entries(this.#counts)) this.#say(`${name} ${count}`);
    this.#say(`duration_ms ${Math.round(performance.now() - this.#began)}`);
    const printed = new Promise((resolve) => this.#printer.on('end', resolve));
    this.#printer.end();
    await printed;
  }

  get hasFailed(): boolean {
    return this.#counts.fail + this.#counts.cancelled > 0;
  }

  #count({ type, data: { details, skip, todo } }: TestEvent): void {
    if (type !== 'test:pass' && type !== 'test:fail') return;
    const counts = this.#counts;
    if (details?.type === 'suite') {
      counts.suites++;
      // A file that cannot be loaded, or a hook of it that fails.
      if (type === 'test:fail' && details.error?.failureType !== 'subtestsFailed') counts.fail++;
      return;
    }
    counts.tests++;
    if (details?.error?.failureType === 'cancelledByParent') counts.cancelled++;
    else if (skip !== undefined) counts.skipped++;
    else if (todo !== undefined) counts.todo++;
    else if (type === 'test:pass') counts.pass++;
    else counts.fail++;
  }

  #print({ type, data }: TestEvent): void {
    const failure = data.details?.error;
    if (failure === undefined) {
      this.#printer.write({ type, data });
      return;
    }
    const { text, failureType } = failure;
    const error = { code: 'ERR_TEST_FAILURE', failureType, cause: { [inspect.custom]: () => text } };
    this.#printer.write({ type, data: { ...data, details: { ...data.details, error } } });
  }

  #say(message: string): void {
    this.#print({ type: 'test:diagnostic', data: { nesting: 0, message } });
  }
}
