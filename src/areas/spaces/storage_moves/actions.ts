/** The two copies of each repository during a move: one is in use, and the other is recorded, even after a crash. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { StorageMove } from './definition.ts';
import { lockContainer, type MovingRepository, movedBy } from './queries.ts';
import { changeState, TakenOver } from './run_actions.ts';

/**
 * Records the copy of a repository that is not in use. It is not due for removal until the move or its owner ends, so
 * that one of the two copies is always recorded.
 * @param storage of the copy
 */
export async function recordCopy(tx: Database, { kind, owner }: MovingRepository, storage: string): Promise<void> {
  await sql`
    insert into unused_repositories (kind, id, storage, due_at) values (${kind.name}, ${owner.id}, ${storage}, 'infinity')
        on conflict (kind, id, storage) do update set due_at = 'infinity'`.execute(tx);
}

/** Whether a copy is recorded: we may not remove any other. */
export async function isRecorded(tx: Database, { kind, owner }: MovingRepository, storage: string): Promise<boolean> {
  const copies = tx
    .selectFrom('unused_repositories')
    .select('id')
    .where('kind', '=', kind.name)
    .where('id', '=', owner.id);
  return (await copies.where('storage', '=', storage).executeTakeFirst()) !== undefined;
}

/** Deletes the record of a copy that is now in use, or no longer exists. */
export async function forgetCopy(tx: Database, { kind, owner }: MovingRepository, storage: string): Promise<void> {
  await tx
    .deleteFrom('unused_repositories')
    .where('kind', '=', kind.name)
    .where('id', '=', owner.id)
    .where('storage', '=', storage)
    .execute();
}

/**
 * Switches a container to its new storage: after the commit, all processes use the copies.
 * @param isStillSame compares sources and copies once more, while writes are blocked
 * @returns false if they differ
 */
export const switchStorage = (
  db: Database,
  move: StorageMove,
  repositories: readonly MovingRepository[],
  isStillSame: () => Promise<boolean>,
): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    const { container, id } = movedBy(move);
    await lockContainer(tx, { container, id });
    if (!(await isStillSame())) return false;
    const { destination_storage: storage, source_storage } = move;
    await sql`
      update ${sql.table(container.table)} set ${sql.ref(container.storage)} = ${storage}, updated_at = now() where id = ${id}`.execute(
      tx,
    );
    for (const moving of repositories) {
      await tx.updateTable(moving.kind.table).set({ storage }).where('id', '=', moving.owner.id).execute();
      await forgetCopy(tx, moving, storage);
      await recordCopy(tx, moving, source_storage);
    }
    if (!(await changeState(tx, move, 'replicated'))) throw new TakenOver(move.id);
    const copied = JSON.stringify(repositories.map(({ kind, owner }) => ({ kind: kind.name, id: owner.id })));
    await tx.updateTable('repository_storage_moves').set({ copied }).where('id', '=', move.id).execute();
    return true;
  });

/** Lets a job remove a leftover copy. */
export async function releaseCopy(tx: Database, { kind, owner }: MovingRepository, storage: string): Promise<void> {
  await tx
    .updateTable('unused_repositories')
    .set({ due_at: sql<string>`now()` })
    .where('kind', '=', kind.name)
    .where('id', '=', owner.id)
    .where('storage', '=', storage)
    .execute();
}
