/** Complete changes of groups. */
import { sql } from 'kysely';
import { levels, lockTree, refreshAuthorizations } from '../../access/index.ts';
import { type Database, isUniqueViolation } from '../../db/index.ts';
import { badRequest } from '../../http/index.ts';

export interface NewGroup {
  name: string;
  path: string;
  parent: { id: number; full_path: string; traversal_ids: readonly number[] } | undefined;
  /** Becomes the owner of a top-level group; in a subgroup he has his rights from above. */
  creator_id: number;
  /** The other columns, as they are. */
  columns?: object;
}

const taken = () => badRequest('Failed to save group {:path=>["has already been taken"]}');

/**
 * Adds a group.
 * @param tx a transaction
 * @returns its id
 * @throws ApiError 400 when the path is taken (groups-projects-members.md section 3.2)
 */
export async function createGroup(tx: Database, { name, path, parent, creator_id, columns = {} }: NewGroup): Promise<number> {
  const full_path = parent ? `${parent.full_path}/${path}` : path;
  if (parent) {
    await lockTree(tx, parent.id);
    const project = await tx.selectFrom('projects').select('id').where('full_path', '=', full_path).executeTakeFirst();
    if (project) throw taken();
  }
  const { id } = await insertGroup(tx, { ...columns, name, path, full_path, parent_id: parent?.id ?? null }, parent?.traversal_ids ?? []);
  if (!parent) {
    await tx.insertInto('members').values({ group_id: id, user_id: creator_id, access_level: levels.owner, created_by_id: creator_id }).execute();
  }
  await refreshAuthorizations(tx, { group_id: id });
  return id;
}

async function insertGroup(
  tx: Database,
  columns: { name: string; path: string; full_path: string; parent_id: number | null },
  above: readonly number[],
): Promise<{ id: number }> {
  try {
    const { id } = await tx
      .insertInto('namespaces')
      .values({ ...columns, kind: 'group', traversal_ids: sql`'{}'` })
      .returning('id')
      .executeTakeFirstOrThrow();
    await tx.updateTable('namespaces').set({ traversal_ids: [...above, id] }).where('id', '=', id).execute();
    return { id };
  } catch (error) {
    if (isUniqueViolation(error)) throw taken();
    throw error;
  }
}
