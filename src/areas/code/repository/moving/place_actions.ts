/** Writes to repositories that may be moved to another storage meanwhile (docs/reference/storage_moves.md#what-is-refused). */
import { sql } from 'kysely';
import type { Database } from '../../../../db/index.ts';
import { repositoryOf, setKeptRefs } from '../../../../git/index.ts';
import type { Owner, RepositoryKind, RepositoryServices } from '../../../../services/index.ts';

interface Owned {
  kind: Pick<RepositoryKind, 'column'>;
  owner: Owner;
}

/**
 * Refuses writes to a repository that is being moved or is on another storage than recorded for its owner. No move of it begins before the end of the transaction.
 * @throws an error that `refusedByMove` recognises
 */
export async function refuseWhileMoving(db: Database, { kind, owner: { id, storage } }: Owned): Promise<void> {
  const owner = (column: RepositoryKind['column']) => sql`${kind.column === column ? id : null}::bigint`;
  await sql`select refuse_while_moving(${owner('project_id')}, ${owner('snippet_id')}, ${owner('wiki_id')}, ${storage})`.execute(
    db,
  );
}

/**
 * Sets internal refs in the repository of a project (`setKeptRefs`). The repository does not begin to move before the end of the transaction.
 * @throws an error that `refusedByMove` recognises
 */
export async function keepRefs(
  tx: Database,
  services: Pick<RepositoryServices, 'storages'>,
  owner: Owner,
  refs: ReadonlyMap<string, string | null>,
): Promise<void> {
  await refuseWhileMoving(tx, { kind: { column: 'project_id' }, owner });
  await setKeptRefs(repositoryOf(services, owner), refs);
  // The journal, which informs secondaries of other moves, has no entry for this one.
  await sql`select record_geo_event('project_repositories', ${owner.id}::bigint::text)`.execute(tx);
}

/** Whether a repository is being moved, so that deferrable work can wait. */
export async function isMoving(db: Database, { kind, owner: { id } }: Owned): Promise<boolean> {
  const container =
    kind.column === 'wiki_id'
      ? sql`(project_id = (select project_id from wikis where id = ${id}) or group_id = (select group_id from wikis where id = ${id}))`
      : sql`${sql.ref(kind.column)} = ${id}`;
  const { rows } = await sql`select from repository_storage_moves where state = 'started' and ${container}`.execute(db);
  return rows.length > 0;
}
