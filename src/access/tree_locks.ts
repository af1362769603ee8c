/** Locks that serialize changes of one tree of namespaces. A later change works on a snapshot that contains the earlier ones. */
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { type DB, ofAnyLength } from '../db/index.ts';

/**
 * Serializes changes below one top-level namespace, so that no pair of user and project is missed by two concurrent changes, and no path is taken twice. Must be the
 * first statement of a transaction that changes the tree.
 * @param namespace_id any namespace of the tree
 */
export const lockTree = (tx: Kysely<DB>, namespace_id: number): Promise<void> => lockTrees(tx, [namespace_id]);

/**
 * The same for several trees, in the order of their IDs, which prevents deadlocks. A transaction takes all its locks in one call.
 * @param namespace_ids any namespaces of the trees
 * @param reaching groups whose members change: trees that are shared with them are locked as well
 */
export async function lockTrees(
  tx: Kysely<DB>,
  namespace_ids: readonly number[],
  reaching: readonly number[] = [],
): Promise<void> {
  return lockRoots(tx, rootsOf(namespace_ids, reaching));
}

/**
 * The same for the tree of a group or project, before its members change. A project that moves meanwhile is followed to its new tree.
 * @param also other namespaces whose trees the change needs
 */
export async function lockPlace(
  tx: Kysely<DB>,
  place: { group_id: number } | { project_id: number },
  also: readonly number[] = [],
): Promise<void> {
  if ('group_id' in place) return lockTrees(tx, [place.group_id, ...also], [place.group_id]);
  await lockRoots(
    tx,
    sql`select traversal_ids[1] as id from namespaces
         where id = any(${ofAnyLength(also, 'bigint[]')}) or id = (select namespace_id from projects where id = ${place.project_id})`,
  );
}

/** @param roots a query of the `id` of top-level namespaces */
async function lockRoots(tx: Kysely<DB>, roots: RawBuilder<unknown>): Promise<void> {
  for (;;) {
    await sql`savepoint trees`.execute(tx);
    const locked = await sql<{ id: number }>`
      select id from namespaces where id in (${roots}) order by id for no key update`.execute(tx);
    const held = new Set(locked.rows.map(({ id }) => id));
    // While this statement waited, a group may have moved to another tree or have been invited to one. Locking further trees now would break the lock order.
    const wanted = await sql<{ id: number }>`${roots}`.execute(tx);
    if (wanted.rows.every(({ id }) => held.has(id))) return;
    await sql`rollback to savepoint trees`.execute(tx);
  }
}

/** The top-level namespaces, as rows of `id`. */
function rootsOf(namespace_ids: readonly number[], reaching: readonly number[]): RawBuilder<unknown> {
  const own = sql`select traversal_ids[1] as id from namespaces where id = any(${ofAnyLength(namespace_ids, 'bigint[]')})`;
  if (reaching.length === 0) return own;
  return sql`${own}
    union select place.traversal_ids[1] from namespaces invited
      join group_links on group_links.invited_group_id = invited.id
      left join projects on projects.id = group_links.project_id
      join namespaces place on place.id = coalesce(group_links.group_id, projects.namespace_id)
     where invited.traversal_ids && ${reaching}::bigint[]`;
}
