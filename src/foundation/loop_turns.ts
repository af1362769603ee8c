/** Shares the event loop among long computations: each does a slice of its work in its turn, and their clients take turns. */
import { currentOwner } from './clients.ts';
import { FairQueue } from './fair_queue.ts';

const waiting = new FairQueue<() => void>();
let isAdvancing = false;

/** One slice in each turn of the loop: however many computations there are, new connections and short requests wait for one slice at most. */
function advance(): void {
  waiting.take()?.();
  isAdvancing = waiting.length > 0;
  if (isAdvancing) setImmediate(advance);
}

/** Yields to others before this computation continues. */
export function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  waiting.add(currentOwner(), resolve);
  if (!isAdvancing) setImmediate(advance);
  isAdvancing = true;
  return promise;
}
