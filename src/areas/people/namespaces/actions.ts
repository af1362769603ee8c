/** Changes of the tree of namespaces. */
import { sql } from 'kysely';
import type { VisibilityName } from '../../../access/index.ts';
import { lockTree, lockTrees } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';

/**
 * Creates the namespace of a user, with their username as its path.
 * @param tx the transaction that creates the user
 */
export async function addUserNamespace(tx: Database, owner_id: number, username: string, name: string): Promise<void> {
  await sql`
    with fresh as (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id)
    insert into namespaces (id, kind, name, path, full_path, traversal_ids, owner_id, visibility)
    overriding system value
    select id, 'user', ${name}, ${username}, ${username}, array[id], ${owner_id}, 'public' from fresh`.execute(tx);
}

/**
 * Renames the namespace of a user and changes the paths of their projects.
 * @param tx the transaction that renames the user; it updates the user after this, because creating a project locks the tree before the user
 */
export async function renameUserNamespace(
  tx: Database,
  owner_id: number,
  username: string,
  name: string,
): Promise<void> {
  const namespace = await tx.selectFrom('namespaces').select('id').where('owner_id', '=', owner_id).executeTakeFirst();
  if (!namespace) return;
  await lockTree(tx, namespace.id);
  await tx
    .updateTable('namespaces')
    .set({ name, path: username, full_path: username, updated_at: sql`now()` })
    .where('id', '=', namespace.id)
    .execute();
  await sql`update projects set full_path = ${username} || '/' || path where namespace_id = ${namespace.id}`.execute(
    tx,
  );
}

/** The columns of a namespace that are needed to create something in it. */
export interface LockedNamespace {
  id: number;
  kind: 'user' | 'group';
  name: string;
  path: string;
  full_path: string;
  traversal_ids: number[];
  visibility: VisibilityName;
}

/**
 * Locks the tree of a namespace and then reads the namespace, which may have been renamed before the lock.
 * @param tx the transaction that changes the namespace or creates something in it
 * @throws ApiError 404 when it no longer exists
 */
export async function lockNamespace(tx: Database, namespace_id: number): Promise<LockedNamespace> {
  await lockTree(tx, namespace_id);
  return lockedNamespaceOf(tx, namespace_id);
}

/**
 * The same for a transfer from one namespace to another: both trees are locked.
 * @param tx the transaction of the transfer
 * @throws ApiError 404 when the target no longer exists
 */
export async function lockTarget(tx: Database, { from, to }: { from: number; to: number }): Promise<LockedNamespace> {
  await lockTrees(tx, [from, to]);
  return lockedNamespaceOf(tx, to);
}

/**
 * A namespace whose tree is locked.
 * @throws ApiError 404 when it no longer exists
 */
export async function lockedNamespaceOf(tx: Database, namespace_id: number): Promise<LockedNamespace> {
  const row = await tx
    .selectFrom('namespaces')
    .select(['id', 'kind', 'name', 'path', 'full_path', 'traversal_ids', 'visibility'])
    .where('id', '=', namespace_id)
    .executeTakeFirst();
  return found('Namespace', row) as LockedNamespace;
}

/**
 * Changes the path or parent of a group, and the paths of everything in it.
 * @param tx a transaction that has locked the trees
 * @param place the current group
 * @param parent undefined for a top-level group
 */
export async function moveGroup(
  tx: Database,
  place: LockedNamespace,
  path: string,
  parent: LockedNamespace | undefined,
): Promise<void> {
  const full_path = parent ? `${parent.full_path}/${path}` : path;
  const traversal_ids = [...(parent?.traversal_ids ?? []), place.id];
  const isSamePlace = traversal_ids.join() === place.traversal_ids.join();
  if (full_path === place.full_path && isSamePlace) return;
  const moved = (column: string) =>
    sql<string>`${full_path} || substr(${sql.ref(column)}, ${place.full_path.length + 1}::integer)`;
  const below = sql<boolean>`namespaces.traversal_ids @> ${[place.id]}::bigint[]`;
  // First, because afterwards the groups have their new paths.
  await tx
    .updateTable('projects')
    .from('namespaces')
    .set({ full_path: moved('projects.full_path') })
    .whereRef('namespaces.id', '=', 'projects.namespace_id')
    .where(below)
    .execute();
  await tx
    .updateTable('namespaces')
    // Only top-level groups have ranges of addresses.
    .set({ path, parent_id: parent?.id ?? null, ...(parent ? { ip_restriction_ranges: null } : {}) })
    .where('id', '=', place.id)
    .execute();
  await tx
    .updateTable('namespaces')
    .set({
      full_path: moved('namespaces.full_path'),
      traversal_ids: sql`${traversal_ids}::bigint[] || traversal_ids[${place.traversal_ids.length + 1}::integer:]`,
    })
    .where(below)
    .execute();
}

/**
 * Paths that a group or project reserves: its own, and inside a namespace the one that differs by `.wiki` at the end,
 * because `apples.wiki.git` is the wiki of `apples`. At the top level there are no projects to conflict with.
 */
function keptPaths(full_path: string): string[] {
  if (!full_path.includes('/')) return [full_path];
  return [full_path, /\.wiki$/i.test(full_path) ? full_path.slice(0, -'.wiki'.length) : `${full_path}.wiki`];
}

/**
 * Whether a group or project has or reserves a path, or a user has it as their username. Users without a namespace
 * count as well.
 * @param tx the transaction that takes the path, with the tree locked
 * @param except_id the group that is updated, which may have the path
 */
export async function isPathTaken(tx: Database, full_path: string, except_id?: number): Promise<boolean> {
  const paths = keptPaths(full_path);
  const { rows } = await sql`
    select from namespaces where full_path = any(${paths}::citext[]) and id is distinct from ${except_id ?? null}::bigint
    union all
    select from projects where full_path = any(${paths}::citext[])
    union all
    select from users where username = ${full_path}
    limit 1`.execute(tx);
  return rows.length > 0;
}
