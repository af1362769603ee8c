/** The authors of a history. */
import { LRUCache } from 'lru-cache';
import { git } from './command.ts';
import { fullId } from './ids.ts';
import type { Contributor, Repository } from './types.ts';

/** Only the newest commits are counted: git reads about 100,000 a second. */
const maximumCommits = 100_000;

const known = new LRUCache<string, readonly Contributor[]>({
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: (contributors) => 100 + contributors.length * 200,
});

/**
 * The authors in the history of a commit, without merges; the most recent author comes first, with the name used last.
 * Two names with one address are one author. Throws `GitError` when the id is no commit.
 */
export async function contributorsTo(repository: Repository, commit: string): Promise<readonly Contributor[]> {
  const key = `${repository.path}\0${fullId(commit)}`;
  const before = known.get(key);
  if (before) return before;
  const options = ['--no-merges', `--max-count=${maximumCommits}`, '--format=%ae%x00%an'] as const;
  const output = (await git(repository, 'log', options, [commit])).toString('utf8');
  const authors = new Map<string, Contributor>();
  for (const line of output.split('\n').slice(0, -1)) {
    const [email = '', name = ''] = line.split('\0');
    const author = authors.get(email);
    if (author) author.commits++;
    else authors.set(email, { name, email, commits: 1 });
  }
  const contributors = [...authors.values()];
  known.set(key, contributors);
  return contributors;
}
