/** The end of a group: it is marked first, can be restored for some days, and is then removed by a job with everything in it. */
import { sql } from 'kysely';
import { type Group, lockTrees, refreshAuthorizations, type Subtree, subtreeOf } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { badRequest, checkUnmodified, found, Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { deleteRepositories } from '../../code/repository/index.ts';

export interface GroupDeletion {
  /** Whether the group, which is marked already, is to be removed without waiting. Only what stands in another group can be. */
  permanently_remove: boolean;
  /** Whoever removes at once shows by the path that he means it. */
  full_path?: string | undefined;
  unmodified_since: Date | undefined;
}

/**
 * Marks a group for deletion, or has one that is marked removed at once.
 * @throws ApiError 404 when it is gone, 400 for a removal of what is at the top, not marked or not named, 412 when it changed after `unmodified_since`
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
  } else if (!group.marked_for_deletion) {
    await db
      .updateTable('namespaces')
      .set({ marked_for_deletion_at: sql`now()`, updated_at: sql`now()` })
      .where('id', '=', group.id)
      // Whoever marked it first set the day on which it goes.
      .where('marked_for_deletion_at', 'is', null)
      .execute();
  }
}

/**
 * Takes the mark from a group.
 * @throws ApiError 400 when it has none of its own
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

/**
 * Removes a group that is marked, with everything in it. The repositories go with the next job: without rows they are out of everybody's reach.
 * @returns whether it was there and marked
 */
const removeMarked = (db: Database, group_id: number): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    await lockTrees(tx, [group_id], [group_id]);
    const group = await tx
      .selectFrom('namespaces')
      .select('id')
      .where('id', '=', group_id)
      .where('marked_for_deletion_at', 'is not', null)
      // Whoever restores it locks its row alone: he comes before, and it stays, or he finds nothing any more.
      .forUpdate()
      .executeTakeFirst();
    if (!group) return false;
    const below = sql`select id from namespaces where traversal_ids @> ${[group_id]}::bigint[]`;
    const guests = await invitedElsewhere(tx, group_id);
    const { rows: repositories } = await sql<{ id: number; storage: string }>`
      delete from projects where namespace_id in (${below}) returning id, storage`.execute(tx);
    await sql`delete from namespaces where id in (${below})`.execute(tx);
    if (repositories.length > 0) await deleteRepositories.enqueue(tx, { repositories });
    if (guests.length > 0) await refreshAuthorizations(tx, guests);
    return true;
  });

/** Where groups that are about to go are invited, as far as it stays: their members have nothing there any more. */
async function invitedElsewhere(tx: Database, group_id: number): Promise<Subtree[]> {
  const { rows } = await sql<{ group_id: number | null; project_id: number | null }>`
    select group_links.group_id, group_links.project_id
      from namespaces invited join group_links on group_links.invited_group_id = invited.id
      left join projects on projects.id = group_links.project_id
      join namespaces place on place.id = coalesce(group_links.group_id, projects.namespace_id)
     where invited.traversal_ids @> ${[group_id]}::bigint[] and not place.traversal_ids @> ${[group_id]}::bigint[]`.execute(tx);
  return rows.map(subtreeOf);
}

/** Removes one group, unless it was restored in the meantime. */
export const removeGroup = job('remove_group', {
  input: { group_id: Id },
  retries: 10,
  run: async ({ db, input, log }) => {
    if (await removeMarked(db, input.group_id)) log.info(input, 'a group was removed');
  },
});

/** A run leaves the rest to the next one. */
const atOnce = 1000;

/** Every hour: has the groups removed whose time to be restored is over, each by a job of its own. */
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
