/** Ancestry of commits. */
import { cacheOf } from '../foundation/caches.ts';
import { GitError, git } from './command.ts';
import { keptCommit, readCommit } from './commits.ts';
import { fullId } from './ids.ts';
import { objectHeader } from './readers.ts';
import { rememberedGit } from './remembered.ts';
import type { Environment, Repository } from './types.ts';

const ancestors = cacheOf<string, boolean>(50_000);

/** How far back from a commit the walk looks for a commit with a cached answer. */
const maximumSteps = 100;
const maximumKept = 200;

const keyOf = ({ path }: Repository, ancestor: string, descendant: string): string =>
  `${path}\0${fullId(ancestor)}\0${fullId(descendant)}`;

/** Whether one commit is reachable from another. Every commit is reachable from itself. Takes ids. */
export async function isAncestor(
  repository: Repository,
  ancestor: string,
  descendant: string,
  env?: Environment,
): Promise<boolean> {
  if (env) return askAncestor(repository, ancestor, descendant, env);
  const is_ancestor =
    (await keptAncestry(repository, ancestor, descendant)) ?? (await askAncestor(repository, ancestor, descendant));
  ancestors.set(keyOf(repository, ancestor, descendant), is_ancestor);
  return is_ancestor;
}

/** The commits of `commits` that are reachable from `into`; one that the repository lacks is not. Takes ids, and starts one process at most. */
export async function reachableFrom(
  repository: Repository,
  into: string,
  commits: readonly string[],
): Promise<Set<string>> {
  const answers = new Map<string, boolean | undefined>();
  const ids = [...new Set(commits)];
  // For more than a page of a list, searching the cache would block other requests.
  for (const id of ids)
    answers.set(id, ids.length > maximumKept ? undefined : await keptAncestry(repository, id, into));
  const open = ids.filter((id) => answers.get(id) === undefined);
  const headers = await Promise.all(open.map((id) => objectHeader(repository, fullId(id))));
  const unknown = open.filter((_, index) => headers[index]?.type === 'commit');
  if (unknown.length > 0) {
    const input = `${[`^${fullId(into)}`, ...unknown.map(fullId)].join('\n')}\n`;
    const output = await git(repository, 'rev-list', ['--stdin'], [], [], { input, limit: maximumList });
    const beyond = new Set(output.toString('latin1').split('\n'));
    for (const id of unknown) {
      answers.set(id, !beyond.has(id));
      ancestors.set(keyOf(repository, id, into), !beyond.has(id));
    }
  }
  return new Set([...answers.keys()].filter((id) => answers.get(id)));
}

/** The size of the ids of six million commits that are in only one of two branches. */
const maximumList = 256 * 1024 * 1024;

/** The answer from earlier answers and from cached commits: the ancestors of a commit with one parent are itself and the ancestors of the parent. */
async function keptAncestry(
  repository: Repository,
  ancestor: string,
  descendant: string,
): Promise<boolean | undefined> {
  let at = descendant;
  for (let step = 0; step < maximumSteps; step++) {
    if (at === ancestor) return true;
    const known = ancestors.get(keyOf(repository, ancestor, at));
    if (known !== undefined) return known;
    // The first commit is read: it is most often compared with its parent. A commit that cannot be read is left to git, which reports why.
    const commit = step > 0 ? keptCommit(repository, at) : await readCommit(repository, at).catch(() => undefined);
    if (commit?.parent_ids.includes(ancestor)) return true;
    if (commit?.parent_ids.length !== 1) return undefined;
    at = commit.parent_ids[0]!;
  }
  return undefined;
}

async function askAncestor(
  repository: Repository,
  ancestor: string,
  descendant: string,
  env?: Environment,
): Promise<boolean> {
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
    return (await rememberedGit(repository, 'merge-base', [], commits.map(fullId), [], { env }))
      .toString('utf8')
      .trim();
  } catch (error) {
    if (error instanceof GitError && error.exit_code === 1) return undefined;
    throw error;
  }
}
