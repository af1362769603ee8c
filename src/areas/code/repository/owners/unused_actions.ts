/** Repositories without an owner row: they are recorded as unused until their owner has a row, and again after it is deleted. */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { createRepository, deleteRepository, type Repository } from '../../../../git/index.ts';
import type { Owner, RepositoryKind, RepositoryServices } from '../../../../services/index.ts';
import { ownedRepository } from '../git.ts';

/** The row of an owner is added within seconds of its repository. */
const spared = sql`interval '1 hour'`;

/**
 * Creates the repository of a new owner, recorded as unused until `useRepository`.
 * @param fill writes the initial content
 * @returns the owner, with an unused id, and the result of `fill`
 */
export async function storeRepository<T>(
  services: Pick<RepositoryServices, 'db' | 'storages'>,
  { kind, storage, default_branch }: { kind: RepositoryKind; storage: string; default_branch: string },
  fill: (repository: Repository) => Promise<T>,
): Promise<Owner & { filled: T }> {
  const { rows } = await sql<{ id: number }>`
    insert into unused_repositories (kind, id, storage, due_at)
    values (${kind.name}, nextval(pg_get_serial_sequence(${kind.table}, 'id')), ${storage}, now() + ${spared})
    returning id`.execute(services.db);
  const owner = { id: rows[0]!.id, storage };
  const { path } = ownedRepository(services, { kind, owner });
  try {
    const filled = await fill(await createRepository(path, { defaultBranch: default_branch }));
    return { ...owner, filled };
  } catch (error) {
    // If this fails, the job deletes it.
    await removeUnusedRepository(services, kind, owner.id).catch(() => {});
    throw error;
  }
}

/**
 * Records that the repository of an owner is in use.
 * @param tx the transaction that adds the owner
 * @throws Error if a job has deleted it, because this took hours
 */
export async function useRepository(tx: Database, { name }: RepositoryKind, id: number): Promise<void> {
  const used = tx.deleteFrom('unused_repositories').where('kind', '=', name).where('id', '=', id);
  const { numDeletedRows } = await used.executeTakeFirst();
  if (numDeletedRows !== 1n) throw new Error(`The repository of the ${name} ${id} has been deleted.`);
}

/**
 * Deletes the repositories of an owner that are recorded as unused, except a copy that a move still needs. After a crash they are still recorded, and deleted again.
 * @returns whether any was recorded
 */
export function removeUnusedRepository(
  { db, storages }: Pick<RepositoryServices, 'db' | 'storages'>,
  kind: RepositoryKind,
  id: number,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const unused = await tx
      .deleteFrom('unused_repositories')
      .where('kind', '=', kind.name)
      .where('id', '=', id)
      .where('due_at', '<', 'infinity')
      .returning(['id', 'storage'])
      .execute();
    for (const owner of unused) await deleteRepository(ownedRepository({ storages }, { kind, owner }));
    return unused.length > 0;
  });
}
