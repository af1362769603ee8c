/** Promoting a project label to a group label. */
import { sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { moveReferences } from '../references/actions.ts';
import type { LabelRow } from './present.ts';

/**
 * Promotes a project label to a group label. Labels with the same title in the group's projects are merged into it.
 * @param tx a transaction
 * @param group_id the project's group
 * @returns the id of the group's label
 */
export async function promoteLabel(tx: Database, label: LabelRow, group_id: number): Promise<number> {
  const { id } = await groupLabelLike(tx, label, group_id);
  // Locked, so that no item can get one of them between the merge and the deletion.
  const { rows } = await sql<{ id: number }>`
    select labels.id from labels join projects on projects.id = labels.project_id
     where projects.namespace_id = ${group_id} and labels.title = ${label.title} order by labels.id for update of labels`.execute(
    tx,
  );
  const merged = rows.map((row) => row.id);
  await moveReferences(tx, 'labels', merged, id);
  await sql`delete from labels where id = any(${ofAnyLength(merged, 'bigint[]')})`.execute(tx);
  return id;
}

/** The group's own label with the title, created if missing. */
async function groupLabelLike(tx: Database, { title, description, color, archived }: LabelRow, group_id: number) {
  return (
    tx
      .insertInto('labels')
      .values({ group_id, title, description, color, archived })
      // A no-op update, so that an existing label is returned and locked.
      .onConflict((known) => known.constraint('labels_group_title_key').doUpdateSet({ title }))
      .returning('id')
      .executeTakeFirstOrThrow()
  );
}
