/** The repositories of snippets: they are stored before their row and follow the same journal as those of projects (docs/reference/snippets.md). */
import { sql } from 'kysely';
import type { VisibilityName } from '../../../access/index.ts';
import { type Database, stamped } from '../../../db/index.ts';
import {
  createRepository,
  deleteRepository,
  fileSizes,
  type Repository,
  repositoryOf,
  resolveBranch,
  type SnippetPlace,
} from '../../../git/index.ts';
import type { Services } from '../../../http/index.ts';
import { maintainSnippet, maintenancePause_s } from './jobs.ts';

/** Columns of a snippet that change together with its files. */
export interface SnippetChanges {
  title?: string | undefined;
  description?: string | null | undefined;
  visibility?: VisibilityName | undefined;
}

/**
 * Writes where the branch of a snippet is, after a move. It reads the branch under the lock of the row, so that of several moves the one that is written last
 * writes the end of all of them.
 * @param tx the transaction that takes the row of the move
 * @param changes what else changes
 */
export async function followBranch(
  tx: Database,
  services: Pick<Services, 'storages'>,
  snippet_id: number,
  changes: SnippetChanges | null,
): Promise<void> {
  const { storage, branch } = await tx
    .selectFrom('snippets')
    .select(['storage', 'branch'])
    .where('id', '=', snippet_id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const repository = repositoryOf(services, { snippet_id, storage });
  const commit_id = await resolveBranch(repository, branch);
  if (commit_id === undefined) throw new Error(`The branch ${branch} of the snippet ${snippet_id} is missing.`);
  const paths = (await Array.fromAsync(fileSizes(repository, commit_id))).map(({ path }) => path);
  await tx
    .updateTable('snippets')
    .set(stamped({ ...changes, commit_id, paths }))
    .where('id', '=', snippet_id)
    .execute();
  await maintainSnippet.enqueue(tx, { snippet_id }, { key: String(snippet_id), after_s: maintenancePause_s });
}

/**
 * Creates the repository of a new snippet, recorded as unused until `useRepository`.
 * @param fill writes its first commit
 * @returns the ID of the snippet, and what `fill` returned
 */
export async function storeRepository<T>(
  services: Pick<Services, 'db' | 'storages'>,
  { storage, branch }: { storage: string; branch: string },
  fill: (repository: Repository) => Promise<T>,
): Promise<SnippetPlace & { filled: T }> {
  const { rows } = await sql<{ snippet_id: number }>`
    insert into unused_repositories (snippet_id, storage) values (nextval(pg_get_serial_sequence('snippets', 'id')), ${storage})
    returning snippet_id`.execute(services.db);
  const place = { snippet_id: rows[0]!.snippet_id, storage };
  const { path } = repositoryOf(services, place);
  try {
    const filled = await fill(await createRepository(path, { defaultBranch: branch }));
    return { ...place, filled };
  } catch (error) {
    // If this fails, the job does it.
    await removeUnusedRepository(services, place.snippet_id).catch(() => {});
    throw error;
  }
}

/**
 * Records that a snippet has a repository.
 * @param tx the transaction that adds the snippet
 * @throws Error when a job has deleted it, because that took hours
 */
export async function useRepository(tx: Database, snippet_id: number): Promise<void> {
  const { numDeletedRows } = await tx.deleteFrom('unused_repositories').where('snippet_id', '=', snippet_id).executeTakeFirst();
  if (numDeletedRows !== 1n) throw new Error(`The repository of the snippet ${snippet_id} has been deleted.`);
}

/**
 * Deletes a repository that is recorded as unused. After a crash in between it is still recorded, and deleted again.
 * @returns whether it was recorded
 */
export function removeUnusedRepository(
  { db, storages }: Pick<Services, 'db' | 'storages'>,
  snippet_id: number,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const unused = await tx
      .deleteFrom('unused_repositories')
      .where('snippet_id', '=', snippet_id)
      .returning(['snippet_id', 'storage'])
      .executeTakeFirst();
    if (!unused) return false;
    await deleteRepository(repositoryOf({ storages }, unused));
    return true;
  });
}
