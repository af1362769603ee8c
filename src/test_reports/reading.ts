/** Reads results of tests in a separate thread, with limits of time and memory: they are large, and anyone can have written them. */
import { FairThreads } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import { nextTurn } from '../foundation/loop_turns.ts';
import { UnreadableReport } from './errors.ts';
import type { Summary, TestCase } from './types.ts';

export interface ToReader {
  bytes: Uint8Array;
  wants_cases: boolean;
}

/** `portions` are lists of tests as JSON. */
export type FromReader = { summary: Summary; portions: string[] } | { reason: string };

const threads = new FairThreads<ToReader, FromReader>('test_reports/reading_worker', {
  heap_mib: 1024,
  budget_ms: 10_000,
  mostWaiting: 100,
});

let pieces = 0;

async function ask(request: ToReader, owner: number) {
  try {
    const answer = await threads.run(request, { owner, content: String(++pieces) });
    if ('reason' in answer) throw new UnreadableReport(answer.reason);
    return answer;
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error;
    throw new UnreadableReport(`reading it takes too ${error.resource === 'time' ? 'long' : 'much memory'}`);
  }
}

/**
 * How many tests of a report ended how.
 * @param bytes JUnit XML, compressed with gzip; one file or several
 * @param owner the id of the project
 * @throws UnreadableReport, TooMuchWaiting
 */
export const summaryOf = async (bytes: Uint8Array, owner: number): Promise<Summary> =>
  (await ask({ bytes, wants_cases: false }, owner)).summary;

/**
 * The tests of a report, in portions.
 * @param bytes JUnit XML, compressed with gzip; one file or several
 * @param owner the id of the project
 * @throws UnreadableReport, TooMuchWaiting
 */
export async function* casesOf(bytes: Uint8Array, owner: number): AsyncGenerator<TestCase[]> {
  const { portions } = await ask({ bytes, wants_cases: true }, owner);
  for (const portion of portions) {
    yield JSON.parse(portion) as TestCase[];
    await nextTurn();
  }
}
