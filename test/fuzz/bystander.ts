/**
 * What others wait while a request is served: the longest time in which the event loop came to nothing else. The server shares it with the run, whose own
 * part is the writing of a request and the reading of its answer.
 */
const interval_ms = 5;
/** How often a request is sent again before it counts as slow: other processes and collected garbage hold the loop up now and then. */
const attempts = 3;
const quietRounds = 400;

/** `histogram.reset()` of `monitorEventLoopDelay` forgets when the loop last turned, and so a delay right after it. */
async function longestDelay_ms(work: () => Promise<unknown>): Promise<number> {
  let longest_ms = 0;
  let last = performance.now();
  const note = () => {
    const now = performance.now();
    longest_ms = Math.max(longest_ms, now - last - interval_ms);
    last = now;
  };
  const timer = setInterval(note, interval_ms);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  note();
  return longest_ms;
}

/** The delay, in milliseconds, that 99 of 100 of these requests do not exceed. */
export async function quietDelay_ms(ask: () => Promise<unknown>): Promise<number> {
  const delays = [];
  for (let round = 0; round < quietRounds; round++) delays.push(await longestDelay_ms(ask));
  return delays.toSorted((a, b) => a - b)[Math.floor(quietRounds * 0.99)]!;
}

/**
 * Sends a request, and again as long as it seems to hold the loop up.
 * @param allowed_ms a delay that needs no second look
 * @returns the first answer, and the shortest of the delays
 */
export async function watched<T>(send: () => Promise<T>, allowed_ms: number): Promise<{ answer: T; delay_ms: number }> {
  let answer: T | undefined;
  let delay_ms = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt === 0 || (attempt < attempts && delay_ms > allowed_ms); attempt++)
    delay_ms = Math.min(
      delay_ms,
      await longestDelay_ms(async () => {
        const sent = await send();
        answer ??= sent;
      }),
    );
  return { answer: answer!, delay_ms };
}
