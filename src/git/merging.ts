/** Merging without a work tree. */
import { mergeBase } from './ancestry.ts';
import { emptyTree } from './changes.ts';
import { GitError, git } from './command.ts';
import { fullId } from './ids.ts';
import type { Repository } from './types.ts';
import { writeTreeCommit } from './writer.ts';

/** The author of the temporary commits, which only git sees. */
const placeholder = { name: 'Coppice', email: 'coppice', date: new Date(0) };

/** The paths of this many conflicts are listed. */
const maximumConflicts = 1_000;

/** The merged tree, which nothing refers to yet, or the paths where two sides conflict. */
export type Merge =
  | { tree_id: string; conflicts?: undefined }
  | {
      tree_id?: undefined;
      conflicts: string[];
      /** The tree in which both sides of each conflict stand between marks, as `git merge` leaves it. */
      marked_tree_id?: string;
    };

/**
 * Three-way merge of two commits with their merge base, following renamed files.
 * @returns no paths, but a conflict, for commits of unrelated histories
 * @throws GitError when an id is not that of a commit
 */
export async function mergeCommits(
  repository: Repository,
  { ours, theirs }: { ours: string; theirs: string },
): Promise<Merge> {
  if ((await mergeBase(repository, [ours, theirs])) === undefined) return { conflicts: [] };
  return merge(repository, ours, theirs);
}

/**
 * Three-way merge: applies the changes between `base` and `theirs` to `ours`, following renamed files.
 * git 2.39 only merges commits, and uses their merge base: so the trees are wrapped in temporary commits. They are the same for the same trees,
 * and maintenance packs them with other unreachable objects.
 * @param trees ids of trees; null is the empty one
 * @returns the id of the merged tree, which nothing refers to yet; undefined on a conflict
 * @throws GitError when an id is not that of a tree
 */
export async function mergeTrees(
  repository: Repository,
  { base, ours, theirs }: { base: string | null; ours: string; theirs: string | null },
): Promise<string | undefined> {
  const commitOf = (tree_id: string, parent_ids: readonly string[]) =>
    writeTreeCommit(repository, { tree_id, parent_ids, message: '', author: placeholder, committer: placeholder });
  const root = await commitOf(base ?? emptyTree(ours), []);
  const [our_commit, their_commit] = await Promise.all([
    commitOf(ours, [root]),
    commitOf(theirs ?? emptyTree(ours), [root]),
  ]);
  return (await merge(repository, our_commit, their_commit)).tree_id;
}

async function merge(repository: Repository, ours: string, theirs: string): Promise<Merge> {
  try {
    const options = ['--write-tree', '-z', '--name-only', '--no-messages'] as const;
    const output = await git(repository, 'merge-tree', options, [fullId(ours), fullId(theirs)]);
    return { tree_id: output.toString('utf8').split('\0', 1)[0]! };
  } catch (error) {
    // The exit code is the same when git cannot read a tree, but then there is error output.
    if (!(error instanceof GitError) || error.exit_code !== 1 || error.stderr !== '') throw error;
    const [marked_tree_id, ...paths] = (error.output ?? Buffer.alloc(0))
      .toString('utf8')
      .split('\0', maximumConflicts + 1);
    return { conflicts: paths.filter((path) => path !== ''), ...(marked_tree_id ? { marked_tree_id } : {}) };
  }
}
