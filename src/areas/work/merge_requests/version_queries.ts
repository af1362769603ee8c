/** What the differences of a version are: commits, files, and their counts (docs/reference/merge_requests.md#content). */
import { changedFiles, countCommits, patchId, type Repository } from '../../../git/index.ts';
import type { Heads } from './version_actions.ts';

/** More files than this are not compared one by one. */
const most_files = 1_000;
const most_commits = 10_000;

/** The columns of a version that are counted. */
export interface VersionCounts {
  state: 'collected' | 'overflow' | 'without_files';
  files_count: number;
  commits_count: number;
  patch_id_sha: string | null;
}

/** Counts what a version changes. */
export async function countsOf(repository: Repository, { head, start, base }: Heads): Promise<VersionCounts> {
  const range = { from: base, to: head };
  const [files, commits_count] = await Promise.all([
    changedFiles(repository, { ...range, renames: true }),
    countCommits(repository, { from: [head], not: [start], limit: most_commits }),
  ]);
  const isLong = files.length > most_files;
  return {
    state: isLong ? 'overflow' : files.length === 0 ? 'without_files' : 'collected',
    files_count: files.length,
    commits_count,
    patch_id_sha: isLong ? null : ((await patchId(repository, range)) ?? null),
  };
}
