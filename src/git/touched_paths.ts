/** Which of some files a push changes. */
import { git } from './command.ts';
import { fullId } from './ids.ts';
import type { Environment, Repository } from './types.ts';

/** git takes paths as arguments, of which there is a limit in bytes. */
const paths_at_once = 200;

/**
 * Those of `paths` that commits change which no branch or tag of the repository leads to yet. What a merge takes over unchanged from one of its sides counts there only.
 * @param targets ids of commits, where references are about to point
 * @param env the quarantine of a push, left out for commits that are in the repository already
 */
export async function touchedPaths(
  repository: Repository,
  targets: readonly string[],
  paths: readonly string[],
  env?: Environment,
): Promise<string[]> {
  const touched = new Set<string>();
  // The second --not makes what follows count as a start again.
  const options = ['--format=', '--name-only', '-z', '-c', '--no-renames', '--not', '--branches', '--tags', '--not'] as const;
  for (let at = 0; at < paths.length && targets.length > 0; at += paths_at_once) {
    const some = paths.slice(at, at + paths_at_once);
    const output = await git(repository, 'log', options, targets.map(fullId), some, env ? { env } : {});
    for (const path of output.toString('utf8').split('\0')) addWithFolders(touched, path);
  }
  return paths.filter((path) => touched.has(path));
}

/** A file that is changed changes every folder above it, and a path may be that of a folder. */
function addWithFolders(touched: Set<string>, path: string): void {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) touched.add(path.slice(0, end));
}
