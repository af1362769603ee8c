/** Requests of runners that wait for a job (docs/reference/runner_protocol.md#waiting). */
import { type Database, listenTo } from '../../../db/index.ts';
import { Waiters } from '../../../foundation/waiters.ts';
import { runnersWithJobs } from './taking_queries.ts';

/** So many requests of one machine wait at once. */
const mostOfManager = 2;
/** When it looks once more after news that led to nothing. */
const again_ms = 1000;

/** What this process holds of one database. */
interface Room {
  waiters: Waiters<number, number>;
  /** Resolves when the database notifies of jobs. */
  listening(): Promise<void>;
}

const rooms = new WeakMap<Database, Room>();

function roomOf(db: Database): Room {
  const known = rooms.get(db);
  if (known) return known;
  const waiters = new Waiters<number, number>({
    most: mostOfManager,
    chosen: (runner_ids, project_ids) => runnersWithJobs(db, runner_ids, [...project_ids]),
  });
  const listening = listenTo(db, 'ci_queue', {
    notified: (payload) => waiters.tell(payload === '' ? undefined : Number(payload)),
    lost: () => waiters.tell(),
  });
  const room = { waiters, listening: () => listening.established() };
  rooms.set(db, room);
  return room;
}

/** A request that waits, and how it gives its slot of the server back meanwhile. */
export interface Waiting {
  runner_id: number;
  manager_id: number;
  /** Fires when it is to wait no longer. */
  ended: AbortSignal;
  pause(): void;
  resume(): Promise<void>;
}

/**
 * Looks for something until it is there: at first, and whenever there is news for the runner. It has no connection of the database between.
 * @param look returns undefined while there is nothing
 * @returns undefined when the time was over, the client has gone, or the server stops
 */
export async function waitFor<T>(
  db: Database,
  { runner_id, manager_id, ended, pause, resume }: Waiting,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const { waiters, listening } = roomOf(db);
  const waiter = waiters.enter(runner_id, String(manager_id));
  let was_told = false;
  try {
    for (;;) {
      await listening();
      const found = await look();
      if (found !== undefined) return found;
      pause();
      // The job that it was told of may be locked for a moment by whoever changes it.
      const again = was_told ? AbortSignal.timeout(again_ms) : undefined;
      was_told = await waiter.news(again ? AbortSignal.any([ended, again]) : ended);
      if (!was_told && !again?.aborted) return undefined;
      await resume();
      if (ended.aborted) return undefined;
    }
  } finally {
    waiter.leave();
  }
}

/** How many requests wait in this process. */
export const waitingIn = (db: Database): number => rooms.get(db)?.waiters.count ?? 0;
