/** The git repositories of a server, by the rows of their projects and snippets. */
import { sql } from 'kysely';
import type pg from 'pg';
import type { Database } from '../db/index.ts';
import { type Repository, type RepositoryOwner, repositoryOf } from '../git/index.ts';

export interface RepositoryRow {
  kind: 'project' | 'snippet';
  id: number;
  /** Of a project; of a snippet, the path of its repository without `.git`. */
  full_path: string;
  storage: string;
  /** Of a snippet, its only branch. */
  default_branch: string;
  empty_repo: boolean;
}

type Storages = Readonly<Record<string, string>>;

const projects = `select 'project' as kind, id, full_path::text, storage, default_branch, empty_repo from projects`;
const snippets = `select 'snippet', snippets.id, concat_ws('/', full_path::text, 'snippets', snippets.id), snippets.storage, branch, false
                    from snippets left join projects on projects.id = snippets.project_id`;

/** The repositories of all projects and snippets in the database, whose schema may be of an older version. */
export async function repositoryRows(client: pg.ClientBase): Promise<RepositoryRow[]> {
  const known = await client.query<{ has_snippets: boolean }>("select to_regclass('snippets') is not null as has_snippets");
  const all = known.rows[0]?.has_snippets ? `${projects} union all ${snippets}` : projects;
  const { rows } = await client.query<Omit<RepositoryRow, 'id'> & { id: string }>(`${all} order by 1, 2`);
  return rows.map((row) => ({ ...row, id: Number(row.id) }));
}

/**
 * The repository with a path, as `check` names it.
 * @param path of a project; or `snippets/ID`, after the path of the project that the snippet is of, if it is of one
 */
export async function repositoryAt(db: Database, path: string): Promise<RepositoryRow | undefined> {
  const { rows } = await sql<RepositoryRow>`
    select * from (${sql.raw(`${projects} union all ${snippets}`)}) repositories where lower(full_path) = lower(${path})`.execute(
    db,
  );
  return rows[0];
}

/** A name for a repository that no other has: its folder in a backup. */
export const nameOf = ({ kind, id }: Pick<RepositoryRow, 'kind' | 'id'>): string =>
  kind === 'project' ? `repositories/${id}` : `repositories/snippets/${id}`;

const ownerOf = ({ kind, id, storage }: Pick<RepositoryRow, 'kind' | 'id' | 'storage'>): RepositoryOwner =>
  kind === 'project' ? { id, storage } : { snippet_id: id, storage };

/** Its path; undefined if its storage is not configured. */
export const placeOf = (storages: Storages, row: Pick<RepositoryRow, 'kind' | 'id' | 'storage'>): Repository | undefined =>
  Object.hasOwn(storages, row.storage) ? repositoryOf({ storages }, ownerOf(row)) : undefined;

export const storagesOf = ({ storages }: { storages: readonly { name: string; path: string }[] }): Storages =>
  Object.fromEntries(storages.map(({ name, path }) => [name, path]));
