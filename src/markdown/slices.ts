/** Long computations in slices, with other requests served in between. */
import { nextTurn } from '../foundation/loop_turns.ts';

/** A computation that yields where it can be interrupted. */
export type Steps<T> = Generator<void, T, void>;

const slice_ms = 10;
/** Steps between two reads of the clock, since reading it would take longer than a step. */
const stepsBetweenLooks = 128;

/** The result of a computation, in slices of 10 ms. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  for (;;) {
    const until = performance.now() + slice_ms;
    do {
      for (let count = 0; count < stepsBetweenLooks; count++) {
        const { done, value } = steps.next();
        if (done) return value;
      }
    } while (performance.now() < until);
    await nextTurn();
  }
}

/** Runs a short computation at once. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The result for each item, in the same order, in slices of 10 ms. A single one may take milliseconds. */
export async function mapInSlices<Item, Made>(
  items: readonly Item[],
  make: (item: Item, index: number) => Made | Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  let until = performance.now() + slice_ms;
  for (const [index, item] of items.entries()) {
    made.push(await make(item, index));
    if (performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + slice_ms;
  }
  return made;
}
