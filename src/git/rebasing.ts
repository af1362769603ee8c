/** Rebasing without a work tree: commits are replayed, one after another, on top of another commit. */
import { originalTexts, readCommit } from './commits.ts';
import { listCommits } from './history.ts';
import { mergeTrees } from './merging.ts';
import type { Commit, Person, Repository } from './types.ts';
import { writeTreeCommit } from './writer.ts';

/** Each takes some ten milliseconds. */
const maximumRebased = 1_000;

export interface Rebase {
  /** The branch whose commits are replayed, except the commits of `onto`. */
  head: string;
  onto: string;
  committer: Omit<Person, 'date'>;
}

/** The new head, which no ref points to yet, or the first commit that does not apply; `too_many` when there are more than `maximumRebased`. */
export type Rebased = { head: string } | { conflict: string } | { too_many: true };

/**
 * Replays commits on top of another one. Like `git rebase`, it skips merge commits, and commits whose changes are already applied; authors and messages stay.
 * @throws GitError when an id is no commit
 */
export async function rebaseCommits(repository: Repository, { head, onto, committer }: Rebase): Promise<Rebased> {
  const commits = await listCommits(repository, {
    from: [head],
    not: [onto],
    order: 'topo',
    limit: maximumRebased + 1,
  });
  if (commits.length > maximumRebased) return { too_many: true };
  let tip = await readCommit(repository, onto);
  for (const commit of commits.toReversed()) {
    if (commit.parent_ids.length > 1) continue;
    const applied = await appliedTo(repository, tip, commit, committer);
    if (!applied) return { conflict: commit.id };
    tip = applied;
  }
  return { head: tip.id };
}

/** The commit on top of `tip`; `tip` itself when it would change nothing; undefined on a conflict. */
async function appliedTo(
  repository: Repository,
  tip: Commit,
  commit: Commit,
  committer: Rebase['committer'],
): Promise<Commit | undefined> {
  const [parent] = commit.parent_ids;
  if (parent === tip.id) return commit;
  const before = parent === undefined ? null : (await readCommit(repository, parent)).tree_id;
  const tree_id = await mergeTrees(repository, { base: before, ours: tip.tree_id, theirs: commit.tree_id });
  if (tree_id === undefined) return undefined;
  // A commit that was empty from the beginning is kept on purpose.
  if (tree_id === tip.tree_id && commit.tree_id !== before) return tip;
  const id = await writeTreeCommit(repository, {
    tree_id,
    parent_ids: [tip.id],
    ...(await originalTexts(repository, commit.id)),
    committer: { ...committer, date: new Date() },
  });
  return readCommit(repository, id);
}
