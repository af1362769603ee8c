/** How commits descend from each other. */
import { LRUCache } from 'lru-cache';
import { GitError, git } from './command.ts';
import { readCommit } from './commits.ts';
import { fullId } from './ids.ts';
import { rememberedGit } from './remembered.ts';
import type { Environment, Repository } from './types.ts';

const ancestors = new LRUCache<string, boolean>({ max: 50_000 });

/** Whether one commit is reachable from another. Every commit is reachable from itself. Takes ids. */
export async function isAncestor(
  repository: Repository,
  ancestor: string,
  descendant: string,
  env?: Environment,
): Promise<boolean> {
  if (env) return askAncestor(repository, ancestor, descendant, env);
  const key = `${repository.path}\0${fullId(ancestor)}\0${fullId(descendant)}`;
  const known = ancestors.get(key);
  if (known !== undefined) return known;
  // A commit is most often compared with its parent. One that cannot be read is left to git, which says why.
  const commit = await readCommit(repository, descendant).catch(() => undefined);
  const is_ancestor = commit?.parent_ids.includes(ancestor) || (await askAncestor(repository, ancestor, descendant));
  ancestors.set(key, is_ancestor);
  return is_ancestor;
}

async function askAncestor(repository: Repository, ancestor: string, descendant: string, env?: Environment): Promise<boolean> {
  try {
    await git(repository, 'merge-base', ['--is-ancestor'], [ancestor, descendant], [], { env });
    return true;
  } catch (error) {
    if (error instanceof GitError && error.exit_code === 1) return false;
    throw error;
  }
}

/**
 * The merge base of two commits, undefined when they have none. For more than two, the merge base of the first one and a hypothetical merge of the others. Takes
 * ids.
 */
export async function mergeBase(
  repository: Repository,
  commits: readonly string[],
  env?: Environment,
): Promise<string | undefined> {
  try {
    return (await rememberedGit(repository, 'merge-base', [], commits.map(fullId), [], { env })).toString('utf8').trim();
  } catch (error) {
    if (error instanceof GitError && error.exit_code === 1) return undefined;
    throw error;
  }
}
