/** The git repositories of a server, by the rows of their owners. */
import { sql } from 'kysely';
import type pg from 'pg';
import { repositories } from '../areas/index.ts';
import type { Database } from '../db/index.ts';
import { type Repository, repositoryOf } from '../git/index.ts';
import type { Owner, RepositoryKind } from '../services/index.ts';

export interface RepositoryRow extends Owner {
  kind: RepositoryKind;
  /** Without `.git`. */
  full_path: string;
  default_branch: string;
  /** Whether it is known to have no branches. */
  empty_repo: boolean;
}

type Storages = Readonly<Record<string, string>>;

const { kinds } = repositories;

/** The repositories of all owners in the database, whose schema may be of an older version. */
export async function repositoryRows(client: pg.ClientBase): Promise<RepositoryRow[]> {
  const all: RepositoryRow[] = [];
  for (const kind of kinds) {
    const known = await client.query<{ is_known: boolean }>('select to_regclass($1) is not null as is_known', [
      kind.table,
    ]);
    if (!known.rows[0]?.is_known) continue;
    const { rows } = await client.query<Omit<RepositoryRow, 'id' | 'kind'> & { id: string }>(`${kind.rows} order by 1`);
    for (const row of rows) all.push({ ...row, kind, id: Number(row.id) });
  }
  return all;
}

/** The repositories of the owners of a kind. */
export async function rowsOfKind(db: Database, kind: RepositoryKind): Promise<RepositoryRow[]> {
  const { rows } = await sql<Omit<RepositoryRow, 'kind'>>`${sql.raw(kind.rows)} order by 1`.execute(db);
  return rows.map((row) => ({ kind, ...row }));
}

/** As `rowsOfKind`, of all kinds. */
export const allRows = async (db: Database): Promise<RepositoryRow[]> =>
  (await Promise.all(kinds.map((kind) => rowsOfKind(db, kind)))).flat();

/** The row of an owner now; undefined when it is gone. */
export async function currentRow(
  db: Database,
  { kind, id }: Pick<RepositoryRow, 'kind' | 'id'>,
): Promise<RepositoryRow | undefined> {
  const { rows } = await sql<Omit<RepositoryRow, 'kind'>>`
    select * from (${sql.raw(kind.rows)}) repositories where id = ${id}`.execute(db);
  return rows[0] && { kind, ...rows[0] };
}

/**
 * The repository with a path, as `check` names it.
 * @param path as clients clone it, without `.git`
 */
export async function repositoryAt(db: Database, path: string): Promise<RepositoryRow | undefined> {
  for (const kind of kinds) {
    const { rows } = await sql<Omit<RepositoryRow, 'kind'>>`
      select * from (${sql.raw(kind.rows)}) repositories where lower(full_path) = lower(${path})`.execute(db);
    if (rows[0]) return { kind, ...rows[0] };
  }
  return undefined;
}

/** A name for a repository that no other has: its folder in a backup. Those of projects have been there first. */
export const nameOf = ({ kind, id }: Pick<RepositoryRow, 'kind' | 'id'>): string =>
  kind.name === 'project' ? `repositories/${id}` : `repositories/${kind.table}/${id}`;

/** Its path; undefined if its storage is not configured. */
export const placeOf = (
  storages: Storages,
  { kind, id, storage }: Pick<RepositoryRow, 'kind' | 'id' | 'storage'>,
): Repository | undefined =>
  Object.hasOwn(storages, storage) ? repositoryOf({ storages }, { id, storage, folder: kind.folder }) : undefined;

export const storagesOf = ({ storages }: { storages: readonly { name: string; path: string }[] }): Storages =>
  Object.fromEntries(storages.map(({ name, path }) => [name, path]));
