/** The last commit of each entry of a folder. */
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheOf } from '../foundation/caches.ts';
import { Semaphore } from '../foundation/semaphore.ts';
import { gitStream } from './command.ts';
import { lastCommitOf } from './history.ts';
import { fullId } from './ids.ts';
import { recordsIn } from './records.ts';
import type { Repository } from './types.ts';

/** The time limit of a walk, which continues after callers have stopped waiting; it then ends with its results so far. */
const maximumWalk_ms = 2_000;
/** A walk occupies a processor; this many requests may wait for their turn. */
const turns = new Semaphore(1, 10);

/** Ids of commits by the names of entries, as far as they are known. */
type Found = Map<string, string>;

interface Walk {
  found: Found;
  ended: Promise<void>;
}

const walks = cacheOf<string, Walk>(1_000);

/** The entries of a folder. */
interface Entries {
  /** Empty for the top. */
  folder: string;
  names: readonly string[];
}

/**
 * The ids of the last commits, in the history of `commit`, that touched entries of a folder. Entries whose commit has not been found in time are missing; the walk
 * continues, so that the next call returns more.
 * @param wait_ms how long to wait, in milliseconds
 */
export async function lastCommitsIn(
  repository: Repository,
  commit: string,
  { wait_ms, ...entries }: Entries & { wait_ms: number },
): Promise<ReadonlyMap<string, string>> {
  const starting = walkFrom(repository, fullId(commit), entries);
  starting.catch(() => {}); // callers that no longer wait receive no error
  const late = sleep(wait_ms, undefined, { ref: false });
  const walk = await Promise.race([starting, late]);
  if (!walk) return new Map();
  await Promise.race([walk.ended, late]);
  return walk.found;
}

/** The walk for a folder. The result for a version of the folder is valid for all later commits that leave it unchanged. */
async function walkFrom(repository: Repository, commit: string, { folder, names }: Entries): Promise<Walk> {
  const start = (await lastCommitOf(repository, commit, folder)) ?? commit;
  const key = [repository.path, start, folder, names[0], names.length].join('\0');
  const before = walks.get(key);
  if (before) return before;
  const found: Found = new Map();
  const ended = turns
    .run(() => follow(repository, start, { folder, names, found }))
    .catch(() => {
      walks.delete(key);
    });
  walks.set(key, { found, ended });
  return { found, ended };
}

/** Walks through the history until all are found. */
async function follow(
  repository: Repository,
  start: string,
  { folder, names, found }: Entries & { found: Found },
): Promise<void> {
  const missing = new Set(names);
  if (missing.size === 0) return;
  const above = folder === '' ? '' : `${folder}/`;
  // With -c, a merge counts for what it takes from no parent.
  const options = ['-c', '-z', '--no-renames', '--raw', '--format=%x01%H'] as const;
  const signal = AbortSignal.timeout(maximumWalk_ms);
  const output = gitStream(repository, 'log', options, [start], folder === '' ? [] : [folder], {
    reader: 'server',
    signal,
  });
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
        // The prefix of a file's line, before its path.
        else isPath = record.includes(':');
      }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    output.destroy();
  }
}
