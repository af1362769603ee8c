/** Polls: work that every worker looks for at an interval, for rows that changes leave behind where a job for each row would cost more than the change. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isUnavailable } from '../db/index.ts';
import type { JobServices } from '../services/index.ts';

export interface PollCall extends JobServices {
  log: Logger;
}

export interface Poll {
  name: string;
  /** The pause after a run that found no more work; after a failed run, ten times as long. */
  every_ms: number;
  /**
   * Looks for work and does some of it. Workers run it concurrently, and it can be interrupted anywhere, so it claims rows in the transaction that processes them
   * and skips locked rows.
   * @returns whether there may be more, so that it is called again at once
   */
  run(call: PollCall): Promise<boolean>;
}

export interface Polling {
  /** Resolves when the runs under way have ended. */
  stop(): Promise<void>;
}

async function keepRunning({ name, every_ms, run }: Poll, call: PollCall, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const pause_ms = await run(call).then(
      (isMore) => (isMore ? 0 : every_ms),
      (error) => {
        // An unavailable database is logged once, with the requests.
        call.log[isUnavailable(error) ? 'debug' : 'warn']({ err: error, poll: name }, 'a poll failed');
        return 10 * every_ms;
      },
    );
    if (pause_ms > 0) await sleep(pause_ms, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Runs each poll in a loop with its pauses, until it is stopped. */
export function startPolling(polls: readonly Poll[], call: PollCall): Polling {
  const stop = new AbortController();
  const loops = polls.map((poll) => keepRunning(poll, call, stop.signal));
  return {
    stop: async () => {
      stop.abort();
      await Promise.all(loops);
    },
  };
}
