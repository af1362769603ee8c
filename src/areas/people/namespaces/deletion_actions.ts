/**
 * The shared part of deleting groups and projects: marking frees the path and the name immediately, and restoring gives
 * them back.
 */
import { sql } from 'kysely';
import { type Database, isAmong } from '../../../db/index.ts';
import { badRequest, checkUnmodified, found } from '../../../http/index.ts';
import { lockedNamespaceOf, moveGroup } from './actions.ts';
import { removeGroup } from './jobs.ts';

export interface Deletion {
  /** Whether to delete a marked group or project immediately. */
  permanently_remove: boolean;
  /** The full path, as a confirmation of an immediate deletion. */
  full_path?: string | undefined;
  unmodified_since: Date | undefined;
}

/** A group or project, as granted to the caller under the lock of its tree. */
interface Deletable {
  id: number;
  full_path: string;
}

interface Names {
  name: string;
  path: string;
}

/** The differences between groups and projects. */
export interface DeletableKind {
  table: 'namespaces' | 'projects';
  noun: 'Group' | 'Project';
  /** The noun in the refusal of a wrong confirmation. */
  confirmed: 'subgroup' | 'project';
  /** Renames it without validating the names, and updates the full paths of everything in it. */
  rename(tx: Database, id: number, names: Names): Promise<unknown>;
  /** Schedules the removal. */
  remove(db: Database, id: number): Promise<unknown>;
}

export const groupDeletion: DeletableKind = {
  table: 'namespaces',
  noun: 'Group',
  confirmed: 'subgroup',
  async rename(tx, id, { name, path }) {
    const place = await lockedNamespaceOf(tx, id);
    const parent_id = place.traversal_ids.at(-2);
    await moveGroup(tx, place, path, parent_id === undefined ? undefined : await lockedNamespaceOf(tx, parent_id));
    await tx.updateTable('namespaces').set({ name }).where('id', '=', id).execute();
  },
  remove: (db, id) => removeGroup.enqueue(db, { group_id: id }, { key: String(id) }),
};

/** Reserved by the rules of names and paths, so that marking never conflicts with an existing name. */
const endingOf = (id: number) => `-deletion_scheduled-${id}`;

/**
 * Marks a group or project for deletion, even inside a marked group, or schedules the immediate deletion of a marked
 * one. The contents of a marked group do not change.
 * @param tx a transaction that has locked the tree
 * @throws ApiError 404 when it no longer exists, 400 when it is already marked or cannot be deleted immediately, 412
 * when it changed after `unmodified_since`
 */
export async function markOrRemove(
  tx: Database,
  kind: DeletableKind,
  thing: Deletable,
  deletion: Deletion,
): Promise<void> {
  const { table, noun, confirmed } = kind;
  const query = tx
    .selectFrom(table)
    .select(['name', 'path', 'marked_for_deletion_at', 'updated_at'])
    .where('id', '=', thing.id);
  const { name, path, marked_for_deletion_at, updated_at } = found(noun, await query.executeTakeFirst());
  checkUnmodified(updated_at, deletion.unmodified_since);
  if (deletion.permanently_remove) {
    if (marked_for_deletion_at === null) throw badRequest(`${noun} must be marked for deletion first.`);
    if (deletion.full_path !== thing.full_path)
      throw badRequest(`\`full_path\` is incorrect. You must enter the complete path for the ${confirmed}.`);
    await refuseWhileMoving(tx, kind, thing.id);
    await kind.remove(tx, thing.id);
    return;
  }
  if (marked_for_deletion_at !== null) throw badRequest(`${noun} has been already marked for deletion`);
  await mark(tx, kind, { id: thing.id, name, path });
}

/**
 * @throws the error by which `refusedByMove` reports that a repository to be deleted is being moved; after this check,
 * the job waits for the end of a move
 */
async function refuseWhileMoving(tx: Database, { table }: DeletableKind, id: number): Promise<void> {
  const deleted =
    table === 'projects'
      ? sql`select id from projects where id = ${id}`
      : sql`select projects.id from projects join namespaces above on above.id = namespace_id where above.traversal_ids @> ${[id]}::bigint[]`;
  await sql`
    select refuse_while_container_moves(project_id, snippet_id, group_id, null) from repository_storage_moves
     where state = 'started' and (project_id in (${deleted}) or snippet_id in (select id from snippets where project_id in (${deleted}))
        or group_id in (select id from namespaces where traversal_ids @> ${[id]}::bigint[]))`.execute(tx);
}

async function mark(tx: Database, kind: DeletableKind, { id, name, path }: Names & { id: number }): Promise<void> {
  const ending = endingOf(id);
  await kind.rename(tx, id, { name: name + ending, path: path + ending });
  await setMarked(tx, kind.table, id, true);
}

/**
 * Marks groups that are not marked yet, and schedules their removal without a restore period.
 * @param tx a transaction that has locked their trees
 */
export async function removeGroupsNow(tx: Database, group_ids: readonly number[]): Promise<void> {
  const groups = await tx
    .selectFrom('namespaces')
    .select(['id', 'name', 'path', 'marked_for_deletion_at'])
    .where(isAmong('id', group_ids, 'bigint[]'))
    .execute();
  for (const { marked_for_deletion_at, ...group } of groups) {
    if (marked_for_deletion_at === null) await mark(tx, groupDeletion, group);
    await groupDeletion.remove(tx, group.id);
  }
}

/**
 * Removes the deletion mark of a group or project.
 * @param tx a transaction that has locked the tree
 * @returns its former name and path, for the caller to restore, except for values that were changed in the meantime
 * @throws ApiError 400 if it is not marked itself
 */
export async function unmark(tx: Database, { table, noun }: DeletableKind, id: number): Promise<Partial<Names>> {
  const row = await tx
    .selectFrom(table)
    .select(['name', 'path'])
    .where('id', '=', id)
    .where('marked_for_deletion_at', 'is not', null)
    .executeTakeFirst();
  if (!row) throw badRequest(`${noun} has not been marked for deletion`);
  await setMarked(tx, table, id, false);
  const ending = endingOf(id);
  const given = (['name', 'path'] as const).filter((column) => row[column].endsWith(ending));
  return Object.fromEntries(given.map((column) => [column, row[column].slice(0, -ending.length)]));
}

const setMarked = (tx: Database, table: DeletableKind['table'], id: number, marked: boolean) =>
  tx
    .updateTable(table)
    .set({ marked_for_deletion_at: marked ? sql`now()` : null, updated_at: sql`now()` })
    .where('id', '=', id)
    .execute();

/** The maximum number of groups or projects per run. */
const atOnce = 1000;

/** Schedules the removal of the groups or projects whose restore period has ended. */
export async function removeDue(db: Database, { table, remove }: DeletableKind): Promise<void> {
  const due = await db
    .selectFrom(table)
    .select('id')
    .where(
      sql<boolean>`marked_for_deletion_at <= now() - (select make_interval(days => deletion_adjourned_period) from application_settings)`,
    )
    .orderBy('marked_for_deletion_at')
    .limit(atOnce)
    .execute();
  for (const { id } of due) await remove(db, id);
}
