/** Deleting groups. A group is marked first, can be restored for some days, and is then deleted by a job with everything in it. */
import { sql } from 'kysely';
import type { Group } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest, checkUnmodified, found } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { removeGroup } from '../../people/namespaces/index.ts';

export interface GroupDeletion {
  /** Whether to delete a marked subgroup immediately. */
  permanently_remove: boolean;
  /** The full path, as a confirmation of an immediate deletion. */
  full_path?: string | undefined;
  unmodified_since: Date | undefined;
}

/**
 * Marks a group for deletion, or schedules the immediate deletion of a marked one.
 * @throws ApiError 404 when it no longer exists, 400 when it is already marked or cannot be deleted immediately, 412 when it changed after `unmodified_since`
 */
export async function endGroup(db: Database, group: Group, deletion: GroupDeletion): Promise<void> {
  const { permanently_remove, full_path, unmodified_since } = deletion;
  const query = db.selectFrom('namespaces').select(['marked_for_deletion_at', 'updated_at']).where('id', '=', group.id);
  const { marked_for_deletion_at, updated_at } = found('Group', await query.executeTakeFirst());
  checkUnmodified(updated_at, unmodified_since);
  if (permanently_remove) {
    if (group.parent_id === null) throw badRequest('`permanently_remove` option is only available for subgroups.');
    if (marked_for_deletion_at === null) throw badRequest('Group must be marked for deletion first.');
    if (full_path !== group.full_path)
      throw badRequest('`full_path` is incorrect. You must enter the complete path for the subgroup.');
    await removeGroup.enqueue(db, { group_id: group.id }, { key: String(group.id) });
  } else if (marked_for_deletion_at !== null || (!group.marked_for_deletion && !(await mark(db, group.id))))
    throw badRequest('Group has been already marked for deletion');
}

/** @returns whether it was not marked before: the first request sets the date of the deletion */
async function mark(db: Database, id: number): Promise<boolean> {
  const marked = await db
    .updateTable('namespaces')
    .set({ marked_for_deletion_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', id)
    .where('marked_for_deletion_at', 'is', null)
    .returning('id')
    .executeTakeFirst();
  return marked !== undefined;
}

/**
 * Restores a group that is marked for deletion.
 * @throws ApiError 400 when it is not marked itself
 */
export async function restoreGroup(db: Database, group_id: number): Promise<void> {
  const restored = await db
    .updateTable('namespaces')
    .set({ marked_for_deletion_at: null, updated_at: sql`now()` })
    .where('id', '=', group_id)
    .where('marked_for_deletion_at', 'is not', null)
    .returning('id')
    .executeTakeFirst();
  if (!restored) throw badRequest('Group has not been marked for deletion');
}

/** The most groups per run. */
const atOnce = 1000;

/** Every hour: schedules the deletion of groups whose restore period is over, each by a job of its own. */
export const removeMarkedGroups = job('remove_marked_groups', {
  input: {},
  retries: 2,
  schedule: '47 * * * *',
  run: async ({ db }) => {
    const due = await db
      .selectFrom('namespaces')
      .select('id')
      .where('kind', '=', 'group')
      .where(
        sql<boolean>`marked_for_deletion_at <= now() - (select make_interval(days => deletion_adjourned_period) from application_settings)`,
      )
      .orderBy('marked_for_deletion_at')
      .limit(atOnce)
      .execute();
    for (const { id } of due) await removeGroup.enqueue(db, { group_id: id }, { key: String(id) });
  },
});
