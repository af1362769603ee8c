/** Merging without a work tree. */
import { emptyTree } from './changes.ts';
import { GitError, git } from './command.ts';
import type { Repository } from './types.ts';
import { writeTreeCommit } from './writer.ts';

/** Whoever merges trees is nobody: the commits around them are seen by git only. */
const nobody = { name: 'Coppice', email: 'coppice', date: new Date(0) };

/**
 * Makes to `ours` the changes that lead from `base` to `theirs`, with files followed where they were renamed.
 * git 2.39 merges commits only, and takes as base what both come from: so the trees are given commits, which are forgotten again. They are the same for the
 * same trees, and maintenance removes them with what else nothing refers to.
 * @param trees ids of trees; null is the empty one
 * @returns the id of the merged tree, which nothing refers to yet; undefined when the changes are in each other's way
 * @throws GitError when an id is none of a tree
 */
export async function mergeTrees(
  repository: Repository,
  { base, ours, theirs }: { base: string | null; ours: string; theirs: string | null },
): Promise<string | undefined> {
  const commitOf = (tree_id: string, parent_ids: readonly string[]) =>
    writeTreeCommit(repository, { tree_id, parent_ids, message: '', author: nobody, committer: nobody });
  const root = await commitOf(base ?? emptyTree(ours), []);
  const [our_commit, their_commit] = await Promise.all([commitOf(ours, [root]), commitOf(theirs ?? emptyTree(ours), [root])]);
  try {
    const options = ['--write-tree', '-z', '--name-only', '--no-messages'] as const;
    const output = await git(repository, 'merge-tree', options, [our_commit, their_commit]);
    return output.toString('utf8').split('\0', 1)[0]!;
  } catch (error) {
    // git ends in the same way when it cannot read a tree, but then it says so.
    if (error instanceof GitError && error.exit_code === 1 && error.stderr === '') return undefined;
    throw error;
  }
}
