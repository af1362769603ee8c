/**
 * Compiles configurations in threads with a budget of time and memory, since whoever writes a file decides what it costs. The thread asks for files and for what happened
 * while it works, with the rights of the person for whom it does.
 */
import type { MessagePort } from 'node:worker_threads';
import { FairThreads, type Work } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import { answering } from '../foundation/thread_questions.ts';
import type { Facts } from './clauses.ts';
import { withoutJobs } from './results.ts';
import type { GivenSources, Selection } from './selection.ts';
import type { CompileResult, FileContext, Files } from './types.ts';

/** What is asked while a configuration is compiled. */
export type Reader = Files & Pick<Facts, 'changed' | 'commitOf' | 'paths'>;

/** A configuration to compile, and what happened. */
export interface ToCompile {
  content: string;
  /** The commit of the file; undefined for a file from another system. */
  context: FileContext | undefined;
  /** The variables that count before there are jobs. Values of masked ones are in no text of the answer. */
  sources: GivenSources;
  facts: Omit<Facts, keyof Reader>;
  /** Values for the inputs of the header. */
  inputs?: Readonly<Record<string, unknown>>;
  /** Whether to decide which jobs are there. */
  selects: boolean;
  /** Whether the answer has the jobs: receiving thousands of them takes the process that serves a while. */
  with_jobs: boolean;
}

export interface Compiled {
  result: CompileResult;
  /** For each job of the configuration the name of its environment with variables in it, or null. */
  environment_names: (string | null)[];
  /** Undefined if it was not asked for, or the configuration has errors. */
  selection?: Selection;
}

/** A question to the reader: the name of its function, and what it is given. */
export type Asked = { [Name in keyof Reader]: { name: Name; given: Parameters<Reader[Name]> } }[keyof Reader];
export type Answered = Awaited<ReturnType<Reader[keyof Reader]>>;

export type ToCompiler = ToCompile & { port: MessagePort };

const threads = new FairThreads<ToCompiler, Compiled>('ci_configuration/compiling_worker', {
  heap_mib: 512,
  budget_ms: 30_000,
  mostWaiting: 100,
  // One more than a person has: while files come slowly, others are served.
  most_threads: 3,
  most_per_owner: 2,
});

const tooLong = 'The configuration takes too long';

/**
 * Compiles a configuration when its turn has come.
 * @param work its owner is the person for whom it is compiled
 * @returns jobs, or errors for people, also when it takes too long or too much memory
 * @throws TooMuchWaiting, the reason of the signal, and what the reader throws
 */
export async function compileInTurn(given: ToCompile, reader: Reader, work: Omit<Work, 'moved'>): Promise<Compiled> {
  const answer = ({ name, given: parameters }: Asked): Promise<Answered> =>
    (reader[name] as (...all: readonly unknown[]) => Promise<Answered>)(...parameters);
  const { port, close, failure } = answering<Asked, Answered>(answer);
  try {
    return await Promise.race([threads.run({ ...given, port }, { ...work, moved: [port] }), failure]);
  } catch (error) {
    if (error instanceof OverBudget) return { result: withoutJobs([tooLong]), environment_names: [] };
    throw error;
  } finally {
    close();
  }
}
