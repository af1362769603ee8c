/** Which of the given files a push changes. */
import { git } from './command.ts';
import { fullId } from './ids.ts';
import type { Environment, Repository } from './types.ts';

/** Paths are passed to git as arguments, whose total size is limited. */
const paths_at_once = 200;

/**
 * Of `paths` those changed by commits that are not yet reachable from a branch or tag. Changes that a merge takes unchanged from one parent count for that parent only.
 * @param targets ids of the commits that references are about to point to
 * @param env the quarantine of a push, omitted for commits that are in the repository already
 */
export async function touchedPaths(
  repository: Repository,
  targets: readonly string[],
  paths: readonly string[],
  env?: Environment,
): Promise<string[]> {
  const touched = new Set<string>();
  // The second --not ends the exclusion, so that what follows is included again.
  const options = [
    '--format=',
    '--name-only',
    '-z',
    '-c',
    '--no-renames',
    '--not',
    '--branches',
    '--tags',
    '--not',
  ] as const;
  for (let at = 0; at < paths.length && targets.length > 0; at += paths_at_once) {
    const some = paths.slice(at, at + paths_at_once);
    const output = await git(repository, 'log', options, targets.map(fullId), some, env ? { env } : {});
    for (const path of output.toString('utf8').split('\0')) addWithFolders(touched, path);
  }
  return paths.filter((path) => touched.has(path));
}

/** A path may be a folder, and a changed file changes every folder above it. */
function addWithFolders(touched: Set<string>, path: string): void {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) touched.add(path.slice(0, end));
}
