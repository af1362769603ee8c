/** Counts turns of the event loop: where there are some, other requests are served in between. */
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The number of times that the event loop turns until `work` has ended. */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isWorking = true;
  const count = () => {
    turns += 1;
    if (isWorking) setImmediate(count);
  };
  setImmediate(count);
  try {
    await work();
  } finally {
    isWorking = false;
  }
  return turns;
}

/** Lets a server in this process read what was just sent to it: it accepts the connection in one turn, and reads in another. */
export async function untilRead(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn();
}

/** Makes every look at the clock 10 ms later than the one before, until the test ends. */
export function slowClock(t: TestContext): void {
  let now = 0;
  t.mock.method(performance, 'now', () => {
    now += 10;
    return now;
  });
}
