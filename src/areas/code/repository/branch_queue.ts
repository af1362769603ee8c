/** Commits that are made without a push to one branch, one after the other: each builds on the one before, and no client has to try again. */
import { RefMoved } from '../../../git/index.ts';
import { branchMoved } from './push_check_rules.ts';

/** A branch for which more are waiting is no place for edits, and they would hold on to what they bring. */
const longest_queue = 200;
/** Pushes and other processes take no turns; an attempt that loses to them is made anew. */
const attempts = 5;

const queues = new Map<string, { length: number; last: Promise<void> }>();

/**
 * Makes a commit when those before it on the branch are made.
 * @param attempt finds out where the branch is, and moves it from there; made again when it throws RefMoved
 * @throws ApiError 400 when the branch moves under every attempt, or too many are waiting, and what `attempt` throws
 */
export async function inTurn<T>(project: { id: number }, branch: string, attempt: () => Promise<T>): Promise<T> {
  const key = `${project.id} ${branch}`;
  const queue = queues.get(key) ?? { length: 0, last: Promise.resolve() };
  if (queue.length >= longest_queue) throw branchMoved(`refs/heads/${branch}`);
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
  for (let made = 1; ; made++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof RefMoved)) throw error;
      if (made === attempts) throw branchMoved(`refs/heads/${branch}`);
    }
  }
}
