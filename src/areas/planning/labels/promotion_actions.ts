/** Promoting a project label to a group label. */
import { sql } from 'kysely';
import { issuableKinds } from '../../../access/index.ts';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import type { LabelRow } from './present.ts';

/**
 * Promotes a project label to a group label. Labels with the same title in the group's projects are merged into it.
 * @param tx a transaction
 * @param group_id the group that the project is in
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
  await moveBearers(tx, merged, id);
  await moveBoards(tx, merged, id);
  await sql`update resource_label_events set label_id = ${id} where label_id = any(${ofAnyLength(merged, 'bigint[]')})`.execute(
    tx,
  );
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

/** Items with one of the labels get the target label as well; the old rows are deleted with their labels. */
async function moveBearers(tx: Database, from: readonly number[], to: number): Promise<void> {
  const moved = sql`label_id = any(${ofAnyLength(from, 'bigint[]')})`;
  for (const { labels, column } of issuableKinds)
    await sql`insert into ${sql.table(labels)} (${sql.ref(column)}, label_id)
      select distinct ${sql.ref(column)}, ${to}::bigint from ${sql.table(labels)} where ${moved} on conflict do nothing`.execute(
      tx,
    );
  await sql`insert into label_priorities (project_id, label_id, priority)
    select project_id, ${to}::bigint, priority from label_priorities where ${moved} on conflict do nothing`.execute(tx);
  await sql`insert into subscriptions (user_id, label_id, subscribed)
    select distinct user_id, ${to}::bigint, true from subscriptions where ${moved} and subscribed on conflict do nothing`.execute(
    tx,
  );
}

/** Lists and scopes of boards stand for the target label. A list of a board that has one for it already goes with its label. */
async function moveBoards(tx: Database, from: readonly number[], to: number): Promise<void> {
  const moved = sql`label_id = any(${ofAnyLength(from, 'bigint[]')})`;
  await sql`
    update board_lists set label_id = ${to}
     where ${moved} and not exists (select from board_lists twins where twins.board_id = board_lists.board_id and twins.label_id = ${to})`.execute(
    tx,
  );
  await sql`insert into board_labels (board_id, label_id)
    select distinct board_id, ${to}::bigint from board_labels where ${moved} on conflict do nothing`.execute(tx);
}
