/** Serialises API commits to one branch: each builds on the one before, so no client has to retry. */
import { RefMoved } from '../../../git/index.ts';
import { branchMoved } from './push_check_rules.ts';

/** Longer queues are refused: every waiting request keeps its content in memory. */
const longest_queue = 200;
/** Pushes and other processes do not queue; an attempt that loses to them is retried. */
const attempts = 5;

const queues = new Map<string, { length: number; last: Promise<void> }>();

/**
 * Runs a commit once those before it on the branch have finished.
 * @param attempt reads where the branch is and moves it from there; retried when it throws RefMoved
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
