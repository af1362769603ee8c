/** Complete changes of the tree of namespaces. */
import { sql } from 'kysely';
import { lockTree, lockTrees } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import type { VisibilityName } from './rules.ts';

/**
 * Adds the namespace of a user's own projects. It is named after him and not shown to others than him.
 * @param tx the transaction that adds the user
 */
export async function addUserNamespace(tx: Database, owner_id: number, username: string, name: string): Promise<void> {
  await sql`
    with fresh as (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id)
    insert into namespaces (id, kind, name, path, full_path, traversal_ids, owner_id, visibility)
    overriding system value
    select id, 'user', ${name}, ${username}, ${username}, array[id], ${owner_id}, 'public' from fresh`.execute(tx);
}

/**
 * Gives the namespace of a user the names that he takes, and his projects their new paths.
 * @param tx the transaction that renames the user; his row is written after this, because whoever adds a project locks the tree before the user
 */
export async function renameUserNamespace(tx: Database, owner_id: number, username: string, name: string): Promise<void> {
  const namespace = await tx.selectFrom('namespaces').select('id').where('owner_id', '=', owner_id).executeTakeFirst();
  if (!namespace) return;
  await lockTree(tx, namespace.id);
  await tx
    .updateTable('namespaces')
    .set({ name, path: username, full_path: username, updated_at: sql`now()` })
    .where('id', '=', namespace.id)
    .execute();
  await sql`update projects set full_path = ${username} || '/' || path where namespace_id = ${namespace.id}`.execute(tx);
}

/** What adding to a namespace needs to know of it. */
export interface Place {
  id: number;
  kind: 'user' | 'group';
  name: string;
  path: string;
  full_path: string;
  traversal_ids: number[];
  visibility: VisibilityName;
}

/**
 * Locks the tree of a namespace and reads the namespace after that: what was read before may have been renamed since.
 * @param tx the transaction that adds to the namespace or changes it
 * @throws ApiError 404 when it is gone
 */
export async function lockedPlace(tx: Database, namespace_id: number): Promise<Place> {
  await lockTree(tx, namespace_id);
  return placeOf(tx, namespace_id);
}

/**
 * The same for what moves from one namespace to another: both trees are locked.
 * @param tx the transaction of the move
 * @throws ApiError 404 when the target is gone
 */
export async function lockedTarget(tx: Database, { from, to }: { from: number; to: number }): Promise<Place> {
  await lockTrees(tx, [from, to]);
  return placeOf(tx, to);
}

/**
 * A namespace whose tree is locked.
 * @throws ApiError 404 when it is gone
 */
export async function placeOf(tx: Database, namespace_id: number): Promise<Place> {
  const row = await tx
    .selectFrom('namespaces')
    .select(['id', 'kind', 'name', 'path', 'full_path', 'traversal_ids', 'visibility'])
    .where('id', '=', namespace_id)
    .executeTakeFirst();
  return found('Namespace', row) as Place;
}

/**
 * Whether a group or a project stands at a path, or a user has it as his name: those without a namespace have one, too.
 * @param tx the transaction that takes the path, with the tree locked
 * @param except_id the group that may stand there, because it is the one that is changed
 */
export async function isPathTaken(tx: Database, full_path: string, except_id?: number): Promise<boolean> {
  const { rows } = await sql`
    select from namespaces where full_path = ${full_path} and id is distinct from ${except_id ?? null}::bigint
    union all
    select from projects where full_path = ${full_path}
    union all
    select from users where username = ${full_path}
    limit 1`.execute(tx);
  return rows.length > 0;
}
