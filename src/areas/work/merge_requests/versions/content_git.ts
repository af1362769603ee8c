/** The content of merge requests: the commits and the changed files of their versions (docs/reference/merge_requests.md#content). */
import { type Static, Type } from 'typebox';
import type { Project } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { type ChangedFile, changedFiles, listCommits, type Repository, repositoryOf } from '../../../../git/index.ts';
import { Id, nullable, resource, type Services, Timestamp } from '../../../../http/index.ts';
import { Commit, Diff, diffsOf, presentCommit } from '../../../code/repository/index.ts';

export interface StoredVersion {
  id: number;
  merge_request_id: number;
  head_commit_sha: string;
  base_commit_sha: string | null;
  start_commit_sha: string;
  state: string;
  files_count: number | null;
  commits_count: number | null;
  patch_id_sha: string | null;
  created_at: string;
}

/** The versions of a merge request. */
export const versionsOf = (db: Database, merge_request_id: number) =>
  db
    .selectFrom('merge_request_versions')
    .select(['id', 'merge_request_id', 'head_commit_sha', 'base_commit_sha', 'start_commit_sha', 'state'])
    .select(['files_count', 'commits_count', 'patch_id_sha', 'created_at'])
    .where('merge_request_id', '=', merge_request_id);

/** The latest version of a merge request; undefined before the first. */
export const lastVersion = (db: Database, merge_request_id: number): Promise<StoredVersion | undefined> =>
  versionsOf(db, merge_request_id).orderBy('id', 'desc').limit(1).executeTakeFirst();

const versionFields = {
  id: Id,
  head_commit_sha: Type.String(),
  base_commit_sha: nullable(
    Type.String({ description: 'The merge base; null for histories that have nothing in common' }),
  ),
  start_commit_sha: Type.String({ description: 'The head of the target branch at that time' }),
  created_at: Timestamp,
  merge_request_id: Id,
  state: Type.Enum(['collected', 'overflow', 'without_files']),
  real_size: Type.String({ description: 'How many files differ; `1000+` beyond 1,000' }),
  patch_id_sha: nullable(Type.String({ description: 'The same for the same changes; null until it is computed' })),
};

export const Version = resource('MergeRequestVersion', versionFields);
export const VersionDetail = resource('MergeRequestVersionDetail', {
  ...versionFields,
  commits: Type.Array(Commit, { description: 'Newest first, at most 1,000' }),
  diffs: Type.Array(Diff, { description: 'Of at most 1,000 files' }),
});

/** The most files compared in a reply without pagination. */
const maximumFiles = 1_000;
const maximumCommits = 1_000;

export function presentVersion(version: StoredVersion): Static<typeof Version> {
  const { id, head_commit_sha, base_commit_sha, start_commit_sha, created_at, merge_request_id, patch_id_sha } =
    version;
  const real_size = version.state === 'overflow' ? `${maximumFiles}+` : String(version.files_count ?? 0);
  const state = version.state as Static<typeof Version>['state'];
  return {
    id,
    head_commit_sha,
    base_commit_sha,
    start_commit_sha,
    created_at,
    merge_request_id,
    state,
    real_size,
    patch_id_sha,
  };
}

/** The two sides of the diff of a version. */
export const rangeOf = ({ base_commit_sha, head_commit_sha }: StoredVersion) => ({
  from: base_commit_sha,
  to: head_commit_sha,
});

/** The files changed by a version. */
export const filesOf = (repository: Repository, version: StoredVersion): Promise<ChangedFile[]> =>
  changedFiles(repository, { ...rangeOf(version), renames: true });

/** The first files of a version with their diffs, and whether there are more. */
export async function changesOf(
  repository: Repository,
  version: StoredVersion,
  { unidiff }: { unidiff: boolean },
): Promise<{ changes: Static<typeof Diff>[]; overflow: boolean }> {
  const files = await filesOf(repository, version);
  const changes = await diffsOf(repository, rangeOf(version), files.slice(0, maximumFiles), { unidiff, isPage: false });
  return { changes, overflow: files.length > maximumFiles || changes.some(({ collapsed }) => collapsed) };
}

/** A version with its commits and diffs. */
export async function presentVersionDetail(
  services: Pick<Services, 'storages' | 'url'>,
  project: Project,
  version: StoredVersion,
  { unidiff }: { unidiff: boolean },
): Promise<Static<typeof VersionDetail>> {
  const repository = repositoryOf(services, project);
  const { head_commit_sha: head, start_commit_sha: start } = version;
  const [commits, { changes: diffs }] = await Promise.all([
    listCommits(repository, { from: [head], not: [start], limit: maximumCommits }),
    changesOf(repository, version, { unidiff }),
  ]);
  return {
    ...presentVersion(version),
    commits: commits.map((commit) => presentCommit(services.url, project, commit)),
    diffs,
  };
}
