/** The git repositories of a server, by the rows of their projects. */
import type pg from 'pg';
import type { Repository } from '../git/index.ts';
import { repositoryOf } from '../git/index.ts';

export interface RepositoryRow {
  id: number;
  full_path: string;
  storage: string;
  default_branch: string;
  empty_repo: boolean;
}

type Storages = Readonly<Record<string, string>>;

/** The repositories of all projects in the database. */
export async function repositoryRows(client: pg.ClientBase): Promise<RepositoryRow[]> {
  const { rows } = await client.query<Omit<RepositoryRow, 'id'> & { id: string }>(
    'select id, full_path::text, storage, default_branch, empty_repo from projects order by id',
  );
  return rows.map((row) => ({ ...row, id: Number(row.id) }));
}

/** Its path; undefined if its storage is not configured. */
export const placeOf = (storages: Storages, row: Pick<RepositoryRow, 'id' | 'storage'>): Repository | undefined =>
  Object.hasOwn(storages, row.storage) ? repositoryOf({ storages }, row) : undefined;

export const storagesOf = ({ storages }: { storages: readonly { name: string; path: string }[] }): Storages =>
  Object.fromEntries(storages.map(({ name, path }) => [name, path]));
