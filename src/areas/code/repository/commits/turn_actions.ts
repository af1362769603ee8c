/** Serialises API commits to one branch: each one builds on the previous one, so no client has to retry. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RefMoved, type Repository } from '../../../../git/index.ts';
import { branchMoved } from '../push_checks/checks.ts';

/** Longer queues are refused: every queued request keeps its content in memory. */
const maximumQueue = 200;
/** Pushes and other processes bypass the queue; an attempt that loses to them is repeated on the new head for this long. */
const maximumContest_ms = 20_000;
/** Pauses are random, because two processes would otherwise collide repeatedly. */
const maximumPause_ms = 250;

const queues = new Map<string, { length: number; last: Promise<void> }>();

/**
 * Runs a commit after the commits queued before it on the branch.
 * @param attempt reads the head of the branch and moves it from there; retried if it throws RefMoved
 * @throws ApiError 400 if the branch moves during every attempt for 20 seconds, or if too many requests are queued, and the errors of `attempt`
 */
export async function inTurn<T>({ path }: Repository, branch: string, attempt: () => Promise<T>): Promise<T> {
  const key = `${path} ${branch}`;
  const queue = queues.get(key) ?? { length: 0, last: Promise.resolve() };
  if (queue.length >= maximumQueue) throw branchMoved(`refs/heads/${branch}`);
  queues.set(key, queue);
  queue.length++;
  const [before, own] = [queue.last, Promise.withResolvers<void>()];
  queue.last = own.promise;
  try {
    await before;
    return await repeated(branch, attempt);
  } finally {
    own.resolve();
    if (--queue.length === 0) queues.delete(key);
  }
}

async function repeated<T>(branch: string, attempt: () => Promise<T>): Promise<T> {
  const giveUpAt = Date.now() + maximumContest_ms;
  for (let pause_ms = 5; ; pause_ms = Math.min(pause_ms * 2, maximumPause_ms)) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof RefMoved)) throw error;
      if (Date.now() > giveUpAt) throw branchMoved(`refs/heads/${branch}`);
      await sleep(Math.random() * pause_ms);
    }
  }
}
