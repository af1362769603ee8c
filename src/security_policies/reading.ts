/** Reads files of policies in a thread with a budget of time and memory, since whoever writes a file decides what it costs. */
import { hash } from 'node:crypto';
import { FairThreads } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import type { ReadPolicies } from './file.ts';

const threads = new FairThreads<string, ReadPolicies>('security_policies/reading_worker', {
  heap_mib: 256,
  budget_ms: 10_000,
  mostWaiting: 100,
});

/**
 * The policies of a file, or what is wrong with it.
 * @param owner the id of the project of the file: projects take turns
 * @throws TooMuchWaiting, and the reason of the signal
 */
export async function readPolicies(text: string, owner: number, signal: AbortSignal): Promise<ReadPolicies> {
  try {
    return await threads.run(text, { owner, content: hash('sha256', text), signal });
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error;
    return { policies: [], errors: ['The file takes too long to read.'] };
  }
}
