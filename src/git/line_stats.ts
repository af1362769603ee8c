/** Counting the lines that a small commit adds and removes without a process. */
import { countLines } from './blame.ts';
import { readCommit } from './commits.ts';
import { type FileDifference, fewDifferences } from './few_differences.ts';
import { objectHeader, storedObject } from './readers.ts';
import type { RawEntry } from './tree.ts';
import type { CommitStats, Repository } from './types.ts';

const maximum_bytes = 256 * 1024;
/** git looks for a NUL in this many bytes. */
const sniffed_bytes = 8000;

/** Thrown where the line counts depend on how git compares the files. */
class AskGit extends Error {}

/**
 * The lines that a commit adds and removes, compared with its first parent, where every diff algorithm yields the same numbers: added or deleted files, and changes
 * that keep no line of the changed part.
 * @returns undefined when git has to compare
 */
export async function plainStats(repository: Repository, id: string): Promise<CommitStats | undefined> {
  try {
    const { tree_id, parent_ids } = await readCommit(repository, id);
    const old_id = parent_ids[0] === undefined ? undefined : (await readCommit(repository, parent_ids[0])).tree_id;
    // Attributes decide which files are text.
    const changes = await fewDifferences(
      repository,
      { from: old_id, to: tree_id },
      (tree) => !tree.get('.gitattributes'),
    );
    if (!changes) return undefined;
    // One might be the other, renamed.
    if (changes.some(({ old }) => !old) && changes.some(({ now }) => !now)) return undefined;
    const counts = await Promise.all(changes.map((change) => linesOf(repository, change)));
    const additions = counts.reduce((sum, count) => sum + count.additions, 0);
    const deletions = counts.reduce((sum, count) => sum + count.deletions, 0);
    return { additions, deletions, total: additions + deletions };
  } catch (error) {
    if (error instanceof AskGit) return undefined;
    throw error;
  }
}

async function linesOf(repository: Repository, { old, now }: FileDifference): Promise<Omit<CommitStats, 'total'>> {
  if (old?.id === now?.id) return { additions: 0, deletions: 0 };
  const [before, after] = await Promise.all([contentOf(repository, old), contentOf(repository, now)]);
  if (isBinary(before) || isBinary(after)) return { additions: 0, deletions: 0 };
  if (before.length === 0 || after.length === 0) return { additions: countLines(after), deletions: countLines(before) };
  const [removed, added] = differing(split(before), split(after));
  const present = new Set(removed);
  if (added.some((line) => present.has(line))) throw new AskGit();
  return { additions: added.length, deletions: removed.length };
}

async function contentOf(repository: Repository, entry: RawEntry | undefined): Promise<Buffer> {
  if (!entry) return Buffer.alloc(0);
  const header = await objectHeader(repository, entry.id);
  if (header?.type !== 'blob' || header.size_bytes > maximum_bytes) throw new AskGit();
  return (await storedObject(repository, entry.id))!.content;
}

const isBinary = (content: Buffer): boolean => content.subarray(0, sniffed_bytes).includes(0);

/** Lines with their line feed: a last line without one differs from the same with one. */
const split = (content: Buffer): string[] => content.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? [];

/** The rest of two lists without their common prefix and suffix. */
function differing(one: string[], other: string[]): [string[], string[]] {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  return [one.slice(start, one.length - end), other.slice(start, other.length - end)];
}
