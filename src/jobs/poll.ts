/** Work that every worker looks for at an interval: rows that changes leave behind, where a job for each row would cost more than the change. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isUnavailable } from '../db/index.ts';
import type { JobServices } from '../services/index.ts';

export interface PollCall extends JobServices {
  log: Logger;
}

export interface Poll {
  name: string;
  /** How long after a run that found nothing more the next one begins; after one that failed, ten times as long. */
  every_ms: number;
  /**
   * Looks for work and does some of it. Workers run it at the same time, and it can be interrupted anywhere, so it takes rows in the transaction that deals with
   * them and skips those that are locked.
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
        // That the database is away is logged once, with the requests.
        call.log[isUnavailable(error) ? 'debug' : 'warn']({ err: error, poll: name }, 'a poll failed');
        return 10 * every_ms;
      },
    );
    if (pause_ms > 0) await sleep(pause_ms, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Runs each poll in turn with its pauses, until it is stopped. */
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
