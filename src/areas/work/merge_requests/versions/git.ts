/** The content of a version: commits, files, and their counts (docs/reference/merge_requests.md#content). */
import { changedFiles, countCommits, listCommits, patchId, type Repository } from '../../../../git/index.ts';
import type { Heads } from './actions.ts';

/** The most files compared one by one. */
const maximumFiles = 1_000;
const maximumCommits = 10_000;
/** The most commits by which a merge request can be found. */
const maximumFound = 1_000;

/** The content of a version. */
export interface VersionContent {
  /** The counted columns of a version. */
  counts: {
    state: 'collected' | 'overflow' | 'without_files';
    files_count: number;
    commits_count: number;
    patch_id_sha: string | null;
  };
  /** Its newest commits. */
  commit_ids: string[];
}

/** Reads the content of a version. */
export async function contentOf(repository: Repository, { head, start, base }: Heads): Promise<VersionContent> {
  const [range, added] = [
    { from: base, to: head },
    { from: [head], not: [start] },
  ];
  const [files, commits_count, commits] = await Promise.all([
    changedFiles(repository, { ...range, renames: true }),
    countCommits(repository, { ...added, limit: maximumCommits }),
    listCommits(repository, { ...added, limit: maximumFound }),
  ]);
  const isLong = files.length > maximumFiles;
  return {
    counts: {
      state: isLong ? 'overflow' : files.length === 0 ? 'without_files' : 'collected',
      files_count: files.length,
      commits_count,
      patch_id_sha: isLong ? null : ((await patchId(repository, range)) ?? null),
    },
    commit_ids: commits.map(({ id }) => id),
  };
}
