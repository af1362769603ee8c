// Runs test files in a few processes. Files share a process, one after the other, unless one says that it needs its own.
import { type ChildProcess, fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type FromWorker, largest_bytes, type TestEvent, type ToWorker } from './messages.ts';

/** The outcome of a file. */
export interface Outcome {
  file: string;
  duration_ms: number;
  events: TestEvent[];
}

export interface RunOptions {
  /** The folder that files are named from. */
  top: string;
  /** How many run at a time. */
  processes: number;
  /** Options of node. */
  execArgv: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Called when a file has ended. */
  report(outcome: Outcome): void;
  /** Ends all processes when it is aborted. */
  stopped?: AbortSignal;
}

/** Far more than any file takes, on a busy machine too. */
const longest_ms = 15 * 60_000;
/** The marker of a file that changes or measures its whole process, with the reason. */
const needsOwnProcess = /^\/\/ Runs in a process of its own: \S/m;

/** Runs the files. Files that need a process of their own come first, as they tend to take longest. */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<void> {
  const isAlone = (file: string) => needsOwnProcess.test(readFileSync(path.join(options.top, file), 'utf8'));
  const { alone = [], shared = [] } = Object.groupBy(files, (file) => (isAlone(file) ? 'alone' : 'shared'));
  const slot = async () => {
    for (let file = alone.shift(); file !== undefined && !options.stopped?.aborted; file = alone.shift())
      await runProcess([file], options);
    // Each process takes what those before it have left.
    while (shared.length > 0 && !options.stopped?.aborted) await runProcess(shared, options);
  };
  await Promise.all(Array.from({ length: options.processes }, slot));
}

/** Runs files from the beginning of a queue in one process, until none is left, the process has become too large or has crashed. */
async function runProcess(queue: string[], options: RunOptions): Promise<void> {
  const child = start(options);
  const running = new RunningFile(child, options.report);
  child.on('message', (message: FromWorker) => {
    if (!('resident_bytes' in message)) return running.hear(message);
    // The last event of its file may still be on its way.
    running.whenEnded(() => {
      const file = message.resident_bytes > largest_bytes ? undefined : queue.shift();
      if (file !== undefined) running.begin(file);
      child.send({ file } satisfies ToWorker);
    });
  });
  const end = await new Promise<string>((resolve) =>
    child.on('close', (code, signal) => resolve(signal ?? `exit code ${code}`)),
  );
  if (running.fail(`The process ended with ${end}.`) || child.killed || end === 'exit code 0') return;
  // A failed test, which is reported as such, ends its process with 1 too.
  if (running.hasFailed && end === 'exit code 1') return;
  running.begin('after the last file of a process');
  running.fail(`It ended with ${end}: something was thrown when its test had ended. It is printed above.`);
}

function start({ top, execArgv, env, stopped }: RunOptions): ChildProcess {
  const reporter = path.join(import.meta.dirname, 'reporter.ts');
  const child = fork(path.join(import.meta.dirname, 'worker.ts'), {
    cwd: top,
    env,
    execArgv: [...execArgv, '--expose-gc', `--test-reporter=${reporter}`, '--test-reporter-destination=stdout'],
    serialization: 'advanced',
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  // Their late writes would keep their folder from being removed.
  const end = () => child.kill('SIGKILL');
  stopped?.addEventListener('abort', end);
  return child.once('close', () => stopped?.removeEventListener('abort', end));
}

/** The file that a process runs, if any. */
class RunningFile {
  readonly #child: ChildProcess;
  readonly #report: RunOptions['report'];
  #file: { name: string; began: number; events: TestEvent[]; limit: NodeJS.Timeout } | undefined;
  #whenEnded: (() => void) | undefined;

  constructor(child: ChildProcess, report: RunOptions['report']) {
    this.#child = child;
    this.#report = report;
    for (const stream of [child.stdout!, child.stderr!])
      stream.setEncoding('utf8').on('data', (message: string) => {
        if (this.#file === undefined) process.stdout.write(message);
        else this.#file.events.push({ type: 'test:stdout', data: { nesting: 0, message } });
      });
  }

  /** Whether a test of the process has failed. */
  hasFailed = false;

  begin(name: string): void {
    const limit = setTimeout(() => {
      this.fail(`It took longer than ${longest_ms / 60_000} minutes.`);
      this.#child.kill('SIGKILL');
    }, longest_ms);
    this.#file = { name, began: performance.now(), events: [], limit };
  }

  hear(event: TestEvent): void {
    this.#file?.events.push(event);
    const { type, data } = event;
    if (type === 'test:fail') this.hasFailed = true;
    if (data.name === this.#file?.name && data.nesting === 0 && (type === 'test:pass' || type === 'test:fail'))
      this.#end();
  }

  /** @returns whether a file was running */
  fail(end: string): boolean {
    if (this.#file === undefined) return false;
    const { name, began, events } = this.#file;
    const ended = new Set(events.filter(({ type }) => type === 'test:complete').map(({ data }) => data.testId));
    const begun = events.filter(
      ({ type, data }) => type === 'test:dequeue' && data.nesting > 0 && !ended.has(data.testId),
    );
    const text = [end, ...begun.map(({ data }) => `“${data.name}” had not ended.`)].join(' ');
    const details = { duration_ms: performance.now() - began, error: { text, failureType: 'process' } };
    this.#file.events.push({ type: 'test:fail', data: { nesting: 0, name, details } });
    this.#end();
    return true;
  }

  whenEnded(act: () => void): void {
    if (this.#file === undefined) act();
    else this.#whenEnded = act;
  }

  #end(): void {
    const { name, began, events, limit } = this.#file!;
    clearTimeout(limit);
    this.#file = undefined;
    this.#report({ file: name, duration_ms: performance.now() - began, events });
    this.#whenEnded?.();
    this.#whenEnded = undefined;
  }
}
