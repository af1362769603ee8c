/** Fetching single commits from one repository into another. */
import { git } from './command.ts';
import { fullId } from './ids.ts';
import type { Repository } from './types.ts';

const longest_fetch_ms = 10 * 60_000;

/**
 * Copies a commit with its history into `target`, where no reference points to it yet.
 * @throws GitError when the source has no such commit
 */
export async function fetchCommit(source: Repository, target: Repository, commit: string): Promise<void> {
  const options = [
    '--quiet',
    '--no-tags',
    '--no-write-fetch-head',
    '--no-auto-maintenance',
    // Also commits that no reference names: a reader of the repository may read all of it.
    "--upload-pack=git -c 'safe.directory=*' -c uploadpack.allowAnySHA1InWant=true upload-pack",
  ] as const;
  await git(target, 'fetch', options, [source.path, fullId(commit)], [], { timeout_ms: longest_fetch_ms });
}
