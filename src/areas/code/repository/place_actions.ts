/** Writing to repositories, which may be moved to another storage meanwhile (docs/reference/storage_moves.md#what-is-refused). */
import { sql } from 'kysely';
import { type Database, refusedByMove } from '../../../db/index.ts';
import { repositoryOf, setKeptRefs } from '../../../git/index.ts';
import type { Owner, RepositoryKind, RepositoryServices } from '../../../services/index.ts';

interface Owned {
  kind: Pick<RepositoryKind, 'column'>;
  owner: Owner;
}

/**
 * Refuses writes to a repository that is being moved or is on another storage than its owner says. Until the end of the transaction, no move of it begins.
 * @throws the error that `refusedByMove` knows
 */
export async function refuseWhileMoving(db: Database, { kind, owner: { id, storage } }: Owned): Promise<void> {
  const owner = (column: RepositoryKind['column']) => sql`${kind.column === column ? id : null}::bigint`;
  await sql`select refuse_while_moving(${owner('project_id')}, ${owner('snippet_id')}, ${owner('wiki_id')}, ${storage})`.execute(
    db,
  );
}

/**
 * Sets refs of ours in the repository of a project (`setKeptRefs`), which does not begin to move before the end of the transaction.
 * @throws the error that `refusedByMove` knows
 */
export async function keepRefs(
  tx: Database,
  services: Pick<RepositoryServices, 'storages'>,
  owner: Owner,
  refs: ReadonlyMap<string, string | null>,
): Promise<void> {
  await refuseWhileMoving(tx, { kind: { column: 'project_id' }, owner });
  await setKeptRefs(repositoryOf(services, owner), refs);
}

/** Whether a repository is being moved, so that what can wait waits. */
export const isMoving = (db: Database, owned: Owned): Promise<boolean> =>
  refuseWhileMoving(db, owned).then(
    () => false,
    (error: unknown) => {
      if (refusedByMove(error) === undefined) throw error;
      return true;
    },
  );
