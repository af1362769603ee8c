/** Deleting groups with all their contents; counting seats. */
import { type RawBuilder, sql } from 'kysely';
import { Type } from 'typebox';
import { lockTrees, refreshAuthorizations, type Subtree, subtreeOf } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { Id, optional } from '../../../http/index.ts';
import { job, queueOf } from '../../../jobs/index.ts';
import { recordSeats } from './count_queries.ts';
import { emptyProjects } from './emptying_actions.ts';
import { tellOfGroup, tellOfProjects } from './hook_actions.ts';

/**
 * Deletes repositories without owners, which triggers have recorded. The area of repositories is above and runs the
 * job.
 */
export const removeUnusedRepositories = queueOf('remove_unused_repositories', { input: {}, retries: 20 });

/** Cleans up after deleted projects. References to them in other projects belong to areas above, which run the job. */
export const cleanUpAfterProjects = queueOf('clean_up_after_projects', {
  // Their forks; jobs of earlier versions do not have this field.
  input: { fork_ids: optional(Type.Array(Id)) },
  retries: 5,
});

/** The number of forks passed to one job. */
const forks_at_once = 1_000;

/** The forks that remain when projects are deleted. */
async function forksOf(tx: Database, deleted: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select fork.id from projects join projects fork on fork.forked_from_id = projects.id
     where ${deleted} and fork.id not in (select projects.id from projects where ${deleted})`.execute(tx);
  return rows.map(({ id }) => id);
}

/**
 * Deletes projects, enqueues hook events and follow-up jobs. A job deletes their repositories, which are unreachable
 * without the rows.
 * @param tx a transaction that has locked the trees
 * @param which a predicate on rows of `projects`
 * @returns how many were deleted
 */
export async function deleteProjects(tx: Database, which: RawBuilder<unknown>): Promise<number> {
  await tellOfProjects(tx, 'project_destroy', which);
  const fork_ids = await forksOf(tx, which);
  const { numAffectedRows: deleted = 0n } = await sql`delete from projects where ${which}`.execute(tx);
  if (deleted === 0n) return 0;
  await removeUnusedRepositories.enqueue(tx, {}, { key: 'all' });
  for (let at = 0; at === 0 || at < fork_ids.length; at += forks_at_once)
    await cleanUpAfterProjects.enqueue(tx, { fork_ids: fork_ids.slice(at, at + forks_at_once) });
  return Number(deleted);
}

/**
 * Deletes a marked group with all its contents. Another job deletes the repositories, which are unreachable without the
 * rows.
 * @returns whether the group existed and was marked
 */
const removeMarked = (db: Database, group_id: number): Promise<boolean> =>
  db.transaction().execute(async (tx) => {
    await lockTrees(tx, [group_id], [group_id]);
    const group = await tx
      .selectFrom('namespaces')
      .select('id')
      .where('id', '=', group_id)
      .where('marked_for_deletion_at', 'is not', null)
      .executeTakeFirst();
    if (!group) return false;
    const below = sql`select id from namespaces where traversal_ids @> ${[group_id]}::bigint[]`;
    const guests = await invitedElsewhere(tx, group_id);
    await deleteProjects(tx, sql`projects.namespace_id in (${below})`);
    await tellOfGroup(tx, 'destroy', group_id);
    await sql`delete from namespaces where id in (${below})`.execute(tx);
    if (guests.length > 0) await refreshAuthorizations(tx, guests);
    return true;
  });

/** Groups and projects outside the deleted groups that are shared with them: their members lose access there. */
async function invitedElsewhere(tx: Database, group_id: number): Promise<Subtree[]> {
  const { rows } = await sql<{ group_id: number | null; project_id: number | null }>`
    select group_links.group_id, group_links.project_id
      from namespaces invited join group_links on group_links.invited_group_id = invited.id
      left join projects on projects.id = group_links.project_id
      join namespaces place on place.id = coalesce(group_links.group_id, projects.namespace_id)
     where invited.traversal_ids @> ${[group_id]}::bigint[] and not place.traversal_ids @> ${[group_id]}::bigint[]`.execute(
    tx,
  );
  return rows.map(subtreeOf);
}

/** A predicate on rows of `projects`: the project is in the group or below it, and the group is marked. */
const isInMarked = (group_id: number) => sql`
  projects.namespace_id in (
    select id from namespaces where traversal_ids @> ${[group_id]}::bigint[]
       and exists (select from namespaces marked where marked.id = ${group_id} and marked.marked_for_deletion_at is not null))`;

/** Deletes one group, unless it was restored in the meantime. */
export const removeGroup = job('remove_group', {
  input: { group_id: Id },
  retries: 10,
  run: async (call) => {
    const { db, input, log } = call;
    await emptyProjects(call, isInMarked(input.group_id));
    if (await removeMarked(db, input.group_id)) log.info(input, 'deleted a group');
  },
});

/** Between two runs, the maximum of a group is its current number of seats if that is higher. */
export const recordGroupSeats = job('record_group_seats', {
  input: {},
  retries: 3,
  schedule: '15 0 * * *',
  run: ({ db, signal }) => recordSeats(db, signal),
});
