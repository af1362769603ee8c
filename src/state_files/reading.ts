/** Reads states of Terraform, long ones in a separate thread. */
import { FairThreads } from '../foundation/fair_threads.ts';
import { OverBudget } from '../foundation/limited_thread.ts';
import { type ReadState, readState, type SentState } from './serials.ts';

/** Shorter states are read on the main thread: it takes less than a millisecond. */
const short_bytes = 64 * 1024;

const threads = new FairThreads<SentState, ReadState>('state_files/reading_worker', {
  heap_mib: 1024,
  budget_ms: 10_000,
  mostWaiting: 100,
});

let count = 0;

/**
 * What a client sent as a state. One that takes too much has no serial.
 * @param owner the id of the project
 * @throws TooMuchWaiting
 */
export async function stateIn(sent: SentState, owner: number): Promise<ReadState> {
  if (sent.content.length < short_bytes) return readState(sent);
  const content = Uint8Array.from(sent.content);
  try {
    return await threads.run({ ...sent, content }, { owner, content: String(++count), moved: [content.buffer] });
  } catch (error) {
    if (error instanceof OverBudget) return { serial: undefined, fits: true };
    throw error;
  }
}
