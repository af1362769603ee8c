/** Queries for moves, their containers, and the repositories that move with them. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import type { Owner, RepositoryKind, RepositoryServices } from '../../../services/index.ts';
import { type Container, containers, type StorageMove } from './definition.ts';

/** The container of a move. */
export interface Moved {
  container: Container;
  id: number;
}

/** @throws Error for a row without a container, which the table does not allow */
export function movedBy(move: Pick<StorageMove, Container['column']>): Moved {
  for (const container of containers) {
    const id = move[container.column];
    if (id !== null) return { container, id };
  }
  throw new Error('The row of a move names no container.');
}

/** A repository that moves with its container. */
export interface MovingRepository {
  kind: RepositoryKind;
  owner: Owner;
}

/** The repositories of a container, with the storage in their rows. */
export async function repositoriesOf(
  { db, repositories }: RepositoryServices,
  { container, id }: Moved,
): Promise<MovingRepository[]> {
  const found: MovingRepository[] = [];
  for (const { kind: name, by } of container.repositories) {
    const kind = repositories.kinds.find((each) => each.name === name);
    if (!kind) continue;
    const { rows } =
      await sql<Owner>`select id, storage from ${sql.table(kind.table)} where ${sql.ref(by)} = ${id}`.execute(db);
    for (const owner of rows) found.push({ kind, owner });
  }
  return found;
}

/** The repositories that a move has copied, on its source. */
export const copiesOf = (
  { repositories }: RepositoryServices,
  { copied, source_storage: storage }: StorageMove,
): MovingRepository[] =>
  copied.flatMap(({ kind: name, id }) => {
    const kind = repositories.kinds.find((each) => each.name === name);
    return kind ? [{ kind, owner: { id, storage } }] : [];
  });

/** Locks the row of a container against every write to its repositories. */
export async function lockContainer(tx: Database, { container, id }: Moved): Promise<void> {
  await sql`select from ${sql.table(container.table)} where id = ${id} for update`.execute(tx);
}

/** All moves, with the columns that their runs need. */
export const moves = (db: Database) =>
  db
    .selectFrom('repository_storage_moves')
    .select([
      'id',
      'project_id',
      'snippet_id',
      'group_id',
      'source_storage',
      'destination_storage',
      'state',
      'runs',
      'copied',
    ])
    .$castTo<StorageMove>();

/**
 * A predicate on moves: the container has just left the storage to which it would return. For 30 seconds, processes
 * redirect reads of its old location to the new one, so it must not return yet.
 */
export const returnsTooSoon = sql<boolean>`(
  source_storage <> destination_storage and exists (
    select from repository_storage_moves earlier
     where earlier.replicated_at > now() - interval '45 seconds' and earlier.source_storage = repository_storage_moves.destination_storage
       and (earlier.project_id = repository_storage_moves.project_id or earlier.snippet_id = repository_storage_moves.snippet_id
            or earlier.group_id = repository_storage_moves.group_id)))`;

export const moveRow = (db: Database, id: number) => moves(db).where('id', '=', id);
