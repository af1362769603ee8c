/** What the differences of a version are: commits, files, and their counts (docs/reference/merge_requests.md#content). */
import { changedFiles, countCommits, listCommits, patchId, type Repository } from '../../../../git/index.ts';
import type { Heads } from './actions.ts';

/** More files than this are not compared one by one. */
const maximumFiles = 1_000;
const maximumCommits = 10_000;
/** By more commits than this a merge request is not found. */
const maximumFound = 1_000;

/** What a version consists of. */
export interface VersionContent {
  /** The columns of a version that are counted. */
  counts: {
    state: 'collected' | 'overflow' | 'without_files';
    files_count: number;
    commits_count: number;
    patch_id_sha: string | null;
  };
  /** Its newest commits. */
  commit_ids: string[];
}

/** Reads what a version changes. */
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
