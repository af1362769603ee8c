/** The last commit of each entry of a folder. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Semaphore } from '../foundation/semaphore.ts';
import { gitStream } from './command.ts';
import { lastCommitOf } from './history.ts';
import { fullId } from './ids.ts';
import { recordsIn } from './records.ts';
import type { Repository } from './types.ts';

/** A walk goes on behind the back of those who have stopped waiting for it, and then ends with what it has found. */
const maximumWalk_ms = 2_000;
/** One walk takes a processor; of those who ask meanwhile, these many wait for their turn. */
const turns = new Semaphore(1, 10);

/** Ids of commits by the names of entries, as far as they are known. */
type Found = Map<string, string>;

interface Walk {
  found: Found;
  ended: Promise<void>;
}

const walks = new LRUCache<string, Walk>({ max: 1_000 });

/**
 * The ids of the last commits, in the history of `commit`, that touched entries of a folder. Entries whose commit has not been found in time are missing; the
 * walk goes on, so that whoever asks again gets more.
 * @param folder empty for the top
 * @param names of entries of the folder
 * @param wait_ms how long to wait, in milliseconds
 */
export async function lastCommitsIn(
  repository: Repository,
  commit: string,
  { folder, names, wait_ms }: { folder: string; names: readonly string[]; wait_ms: number },
): Promise<ReadonlyMap<string, string>> {
  const [first] = names;
  if (first === undefined) return new Map();
  // What the folder was like before counts for all later commits that leave it as it is.
  const start = (await lastCommitOf(repository, fullId(commit), folder)) ?? commit;
  const key = [repository.path, start, folder, first, names.length].join('\0');
  let walk = walks.get(key);
  if (!walk) {
    const found: Found = new Map();
    const ended = turns
      .run(() => follow(repository, start, { folder, names, found }))
      .catch(() => {
        walks.delete(key);
      });
    walk = { found, ended };
    walks.set(key, walk);
  }
  await Promise.race([walk.ended, sleep(wait_ms, undefined, { ref: false })]);
  return walk.found;
}

/** Walks through the history until all are found. */
async function follow(
  repository: Repository,
  start: string,
  { folder, names, found }: { folder: string; names: readonly string[]; found: Found },
): Promise<void> {
  const missing = new Set(names);
  const above = folder === '' ? '' : `${folder}/`;
  // With -c, a merge counts for what it takes from no parent.
  const options = ['-c', '-z', '--no-renames', '--raw', '--format=%x01%H'] as const;
  const signal = AbortSignal.timeout(maximumWalk_ms);
  const output = gitStream(repository, 'log', options, [start], folder === '' ? [] : [folder], { signal });
  let commit = '';
  let isPath = false;
  try {
    for await (const records of recordsIn(output, 0))
      for (const record of records) {
        if (isPath) {
          const [name = ''] = record.slice(above.length).split('/', 1);
          if (missing.delete(name)) found.set(name, commit);
          if (missing.size === 0) return;
          isPath = false;
        } else if (record.startsWith('\x01')) commit = record.slice(1);
        // What is said of a file, before its path.
        else isPath = record.includes(':');
      }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    output.destroy();
  }
}
