/** Reads reports of scanners in a separate thread, with limits of time and memory: they are large, and anyone can have written them. */
import { FairThreads } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import type { Findings } from './findings.ts';

export interface ToReader {
  bytes: Uint8Array;
  report_type: string;
}

const threads = new FairThreads<ToReader, Findings>('security_reports/reading_worker', {
  heap_mib: 512,
  budget_ms: 10_000,
  mostWaiting: 100,
});

const nothing: Findings = { findings: [], bills: [] };

/**
 * What a report found, and the bills of materials that it has. A report of another shape, and one that takes too much, has nothing.
 * @param bytes JSON, perhaps compressed with gzip; one file or several
 * @param work.owner the id of the project
 * @param work.content identifies the report
 * @throws TooMuchWaiting, and the reason of the signal
 */
export async function findingsIn(
  request: ToReader,
  work: { owner: number; content: string; signal: AbortSignal },
): Promise<Findings> {
  try {
    return await threads.run(request, work);
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error;
    return nothing;
  }
}
