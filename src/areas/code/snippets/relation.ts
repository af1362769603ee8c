/** Exports and imports snippets, with the files of their last commit (docs/reference/relations_export.md#snippets). */
import { sql } from 'kysely';
import { commitEmailOf, isVisibleSnippet } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { entryAt, GitError, readBlob, repositoryOf } from '../../../git/index.ts';
import { ApiError, type Caller, textOf } from '../../../http/index.ts';
import {
  type Arrival,
  type ArrivingRow,
  coded,
  column,
  type Departure,
  type Members,
  markdown,
  type RecordKind,
  type Relation,
  required,
  shown,
  somebody,
  text,
  time,
} from '../../../relations/index.ts';
import type { FileAction } from '../repository/commits/file_actions.ts';
import { useRepository } from '../repository/owners/unused_actions.ts';
import { storeFiles } from './actions.ts';
import { placeOf, snippetRepositories } from './kind.ts';
import { problemsOf } from './rules.ts';

type Line = Record<string, unknown>;

interface File {
  path: string;
  content: string;
  /** Defaults to UTF-8. */
  encoding?: 'base64';
}

/** Limits for all files of a snippet, and for its first file as `content`. */
const maximumSizes_bytes = { together: 50_000_000 / 2, content: 1024 * 1024 };

interface StoredFiles {
  id: number;
  storage: string;
  commit_id: string;
  paths: string[];
}

function fileOf(path: string, bytes: Buffer): File {
  const content = bytes.toString('utf8');
  return Buffer.from(content).equals(bytes)
    ? { path, content }
    : { path, content: bytes.toString('base64'), encoding: 'base64' };
}

async function filesOf(storages: Departure['storages'], { commit_id, paths, ...owner }: StoredFiles): Promise<File[]> {
  const repository = repositoryOf({ storages }, placeOf(owner));
  const files: File[] = [];
  let left_bytes = maximumSizes_bytes.together;
  for (const path of paths) {
    const entry = await entryAt(repository, commit_id, path);
    const bytes = entry && (await readBlob(repository, entry.id, left_bytes));
    if (!bytes) continue;
    left_bytes -= bytes.length;
    files.push(fileOf(path, bytes));
  }
  return files;
}

/** Adds the files. They are omitted if the repository has lost them, or if they are too large for a line. */
async function addFiles(_tx: Database, { storages }: Departure, records: readonly Line[]): Promise<void> {
  for (const record of records) {
    const place = record.files as StoredFiles;
    record.files = [];
    try {
      record.files = await filesOf(storages, place);
    } catch (error) {
      if (!(error instanceof GitError || error instanceof RangeError)) throw error;
    }
    const [first] = record.files as File[];
    const fits = first && first.encoding === undefined && first.content.length <= maximumSizes_bytes.content;
    record.content = fits ? first.content : null;
  }
}

/** The files of a record; other servers send only the content of one file. */
function actionsIn({ files, file_name, content }: Line): FileAction[] {
  const objects = Array.isArray(files) ? files.filter((file) => typeof file === 'object' && file !== null) : [];
  const given: Record<string, unknown>[] = objects.length > 0 ? objects : [{ path: file_name, content }];
  return given.map(({ path, content: body, encoding }) => ({
    action: 'create',
    file_path: typeof path === 'string' && path.trim() !== '' ? path : 'snippetfile1.txt',
    content: Buffer.from(typeof body === 'string' ? body : '', encoding === 'base64' ? 'base64' : 'utf8'),
  }));
}

type CommitAuthor = Pick<Caller, 'name' | 'commit_email'>;

/** The authors of the first commits. Hidden addresses stay private. */
async function authorsOf(
  tx: Database,
  { services }: Arrival,
  rows: readonly ArrivingRow[],
): Promise<Map<unknown, CommitAuthor>> {
  const ids = rows.map(({ row }) => row.author_id as number);
  const users = await tx
    .selectFrom('users')
    .select(['id', 'name', 'username'])
    .where(isAmong('id', ids, 'bigint[]'))
    .execute();
  const addressOf = (user: { id: number; username: string }) =>
    commitEmailOf({ ...user, email: '', commit_email: '_private', has_proved_email: false }, services.url);
  return new Map(users.map(({ name, ...user }) => [user.id, { name, commit_email: addressOf(user) }]));
}

/** Creates the repository of a snippet. @returns the reasons for refusing it */
async function storeSnippet(
  tx: Database,
  { services }: Arrival,
  { row, value }: ArrivingRow,
  author: CommitAuthor,
): Promise<string | undefined> {
  const actions = actionsIn(value);
  const [problem] = Object.entries(problemsOf(row, actions, Number.MAX_SAFE_INTEGER));
  if (problem) return `${problem[0]} ${problem[1][0]}`;
  try {
    Object.assign(row, await storeFiles(services, author, actions));
  } catch (error) {
    if (error instanceof ApiError) return textOf(error);
    throw error;
  }
  await useRepository(tx, snippetRepositories, row.id as number);
  return undefined;
}

const snippet: RecordKind = {
  table: 'snippets',
  owner: { project: 'project_id' },
  title: 'title',
  members: {
    title: required(
      'title',
      text((title) => (title === '' ? ["can't be blank"] : [])),
    ),
    content: shown(sql`null`),
    description: column('description', markdown()),
    file_name: shown(sql`snippets.paths[1]`),
    visibility_level: required('visibility', coded('text', { private: 0, internal: 10, public: 20 })),
    author_id: somebody('author_id'),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
    files: shown(
      sql`json_build_object('id', snippets.id, 'storage', snippets.storage, 'commit_id', snippets.commit_id, 'paths', snippets.paths)`,
    ),
  },
  always: { imported_from: 'gitlab_migration' },
  stays: { user_id: 'snippets of users do not leave with projects' },
  isVisible: ({ caller }) =>
    sql`exists (select from projects where projects.id = snippets.project_id and ${isVisibleSnippet(caller as Caller)})`,
  derives: {
    columns: { storage: 'text', branch: 'text', commit_id: 'text', paths: 'text[]', size_bytes: 'bigint' },
    derive: async (rows, arrival, tx) => {
      const authors = await authorsOf(tx, arrival, rows);
      const refusals = new Map<ArrivingRow, string>();
      for (const each of rows) {
        const reason = await storeSnippet(tx, arrival, each, authors.get(each.row.author_id)!);
        if (reason !== undefined) refusals.set(each, reason);
      }
      return refusals;
    },
  },
};

/**
 * The snippets of a project.
 * @param further further members of snippets, from higher areas
 */
export const snippetsWith = (further: Members): Relation => ({
  name: 'snippets',
  kind: { ...snippet, members: { ...snippet.members, ...further } },
  is_batched: true,
  complete: addFiles,
});
