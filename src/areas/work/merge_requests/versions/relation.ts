/** Exports and imports the versions of merge requests, and the content of the latest one (docs/reference/relations_export.md#merge_requests). */
import { sql } from 'kysely';
import { type Database, momentInJson } from '../../../../db/index.ts';
import {
  changedFiles,
  GitError,
  listCommits,
  patchesOf,
  type Repository,
  repositoryOf,
  resolveCommit,
} from '../../../../git/index.ts';
import {
  type Arrival,
  type ArrivingRow,
  choice,
  column,
  columnOr,
  type Departure,
  integer,
  parts,
  type RecordKind,
  required,
  sha,
  shown,
  time,
} from '../../../../relations/index.ts';

const version: RecordKind = {
  table: 'merge_request_versions',
  members: {
    state: columnOr('state', choice('collected', 'overflow', 'without_files', 'empty'), 'collected'),
    base_commit_sha: column('base_commit_sha', sha),
    start_commit_sha: required('start_commit_sha', sha),
    head_commit_sha: required('head_commit_sha', sha),
    commits_count: column('commits_count', integer(0)),
    files_count: column('files_count', integer(0)),
    patch_id_sha: column('patch_id_sha', sha),
    real_size: shown(sql`merge_request_versions.files_count::text`),
    sorted: shown(sql`true`),
    diff_type: shown(sql`'regular'`),
    created_at: required('created_at', time),
    updated_at: shown(sql`null`),
  },
  stays: {},
  derives: {
    columns: {},
    derive: (rows, arrival, tx) => {
      // Other servers use a different name for a version without changes.
      for (const { row } of rows) if (row.state === 'empty') row.state = 'without_files';
      return withoutCommits(rows, ['head_commit_sha', 'start_commit_sha', 'base_commit_sha'], arrival, tx);
    },
  },
};

/** The reason for refusing rows whose commits were not imported with the repository: nobody could read their content. */
async function withoutCommits(
  rows: readonly ArrivingRow[],
  columns: readonly string[],
  { owner, services }: Arrival,
  tx: Database,
): Promise<Map<ArrivingRow, string>> {
  const places = tx.selectFrom('projects').select(['id', 'storage']).where('id', '=', owner.id);
  const repository = repositoryOf(services, await places.executeTakeFirstOrThrow());
  const named = rows.map(({ row }) => columns.flatMap((column) => (row[column] as string | null) ?? []));
  const shas = [...new Set(named.flat())];
  const found = await Promise.all(shas.map((id) => resolveCommit(repository, id)));
  const here = new Set(found);
  return new Map(
    rows.flatMap((each, index): [ArrivingRow, string][] =>
      named[index]!.every((id) => here.has(id)) ? [] : [[each, 'names commits that are not here']],
    ),
  );
}

/** A member with the context commits. */
export const contextCommits = parts(
  {
    table: 'merge_request_context_commits',
    is_link: true,
    distinct: ['sha'],
    members: { sha: required('sha', sha) },
    stays: {},
    derives: { columns: {}, derive: (rows, arrival, tx) => withoutCommits(rows, ['sha'], arrival, tx) },
  },
  'merge_request_id',
);

type Line = Record<string, unknown>;

const objectIn = (value: unknown): Line | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Line) : undefined;

/** A member with all versions; other servers export only the latest one, in another member. */
export const versions = {
  ...parts(version, 'merge_request_id'),
  given: ({ merge_request_diffs, merge_request_diff }: Line): readonly unknown[] => {
    if (Array.isArray(merge_request_diffs)) return merge_request_diffs;
    return objectIn(merge_request_diff) ? [merge_request_diff] : [];
  },
};

/** A member with the latest version; `addContents` adds its commits and files. */
export const lastVersion = shown(sql`(
  select json_build_object(
           'state', state, 'base_commit_sha', base_commit_sha, 'start_commit_sha', start_commit_sha, 'head_commit_sha', head_commit_sha,
           'commits_count', commits_count, 'files_count', files_count, 'real_size', files_count::text, 'sorted', true, 'diff_type', 'regular',
           'created_at', ${momentInJson('created_at')}, 'updated_at', null)
    from merge_request_versions where merge_request_versions.id = merge_requests.latest_version_id)`);

/** A member with the commits by which a merge request can be found. */
export const mergedCommits = {
  ...parts(
    {
      table: 'merge_request_commits',
      is_link: true,
      distinct: ['sha'],
      members: { sha: required('sha', sha) },
      stays: {},
    } satisfies RecordKind,
    'merge_request_id',
  ),
  only_arrives: true as const,
  given: ({ merge_request_diff }: Line): readonly unknown[] => {
    const commits = objectIn(merge_request_diff)?.merge_request_diff_commits;
    return Array.isArray(commits) ? commits : [];
  },
};

const maximums = { commits: 1_000, files: 1_000 };
const limits = { patch_bytes: 200 * 1024, total_bytes: 10 * 1024 * 1024 };

async function commitsOf(repository: Repository, head: string, start: string): Promise<Line[]> {
  const commits = await listCommits(repository, { from: [head], not: [start], limit: maximums.commits });
  return commits.map((commit, relative_order) => ({
    relative_order,
    sha: commit.id,
    message: commit.message,
    authored_date: commit.authored_date,
    committed_date: commit.committed_date,
    commit_author: { name: commit.author_name, email: commit.author_email },
    committer: { name: commit.committer_name, email: commit.committer_email },
    trailers: {},
  }));
}

async function filesOf(repository: Repository, from: string | null, to: string): Promise<Line[]> {
  const files = (await changedFiles(repository, { from, to, renames: true })).slice(0, maximums.files);
  const patches = await patchesOf(repository, { from, to }, files, limits);
  return files.map(({ status, old_path, path, old_mode, mode }, relative_order) => ({
    relative_order,
    old_path,
    new_path: path,
    a_mode: old_mode,
    b_mode: mode,
    new_file: status === 'added',
    renamed_file: status === 'renamed',
    deleted_file: status === 'deleted',
    too_large: !['whole', 'binary'].includes(patches[relative_order]!.state),
    binary: patches[relative_order]!.state === 'binary',
    utf8_diff: patches[relative_order]!.state === 'whole' ? patches[relative_order]!.hunks : '',
  }));
}

/** Adds the commits and files of the latest versions. They are omitted if the repository has lost them. */
export async function addContents(
  tx: Database,
  { owner, storages }: Departure,
  records: readonly Line[],
): Promise<void> {
  const project = await tx
    .selectFrom('projects')
    .select(['id', 'storage'])
    .where('id', '=', owner.id)
    .executeTakeFirstOrThrow();
  const repository = repositoryOf({ storages }, project);
  for (const record of records) {
    const last = objectIn(record.merge_request_diff);
    if (!last) continue;
    const [head, start, base] = [last.head_commit_sha, last.start_commit_sha, last.base_commit_sha] as [
      string,
      string,
      string | null,
    ];
    try {
      last.merge_request_diff_commits = await commitsOf(repository, head, start);
      last.merge_request_diff_files = await filesOf(repository, base, head);
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      Object.assign(last, { merge_request_diff_commits: [], merge_request_diff_files: [], state: 'without_files' });
    }
  }
}
