/** A whole diff as text. */
import type { Readable } from 'node:stream';
import { emptyTree } from './changes.ts';
import { gitStream } from './command.ts';
import { fullId } from './ids.ts';
import type { Repository } from './types.ts';

const options = ['--find-renames', '--no-color', '--no-ext-diff', '--no-textconv'] as const;

/**
 * The changes between two commits in the format of `git diff`, as a stream of constant memory. An id that is no commit ends it with `GitError`.
 * @param range from null, every file of `to` is new
 */
export const streamDiff = (
  repository: Repository,
  { from, to }: { from: string | null; to: string },
  signal?: AbortSignal,
): Readable => {
  const sides = [from === null ? emptyTree(to) : fullId(from), fullId(to)];
  return gitStream(repository, 'diff', options, sides, [], { signal, reader: 'client' });
};

/** A commit in the format of `git format-patch`, as a stream of constant memory. Merges are empty, because no patch makes one. */
export const streamPatch = (repository: Repository, commit: string): Readable =>
  gitStream(repository, 'format-patch', ['--stdout', '-1', ...options], [fullId(commit)], [], { reader: 'client' });
