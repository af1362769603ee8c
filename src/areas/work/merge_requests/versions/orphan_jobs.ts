/** Closes open merge requests whose two projects are no longer in the same fork network (docs/reference/merge_requests.md#branches). */
import { sql } from 'kysely';
import { theMergeRequest } from '../../../../access/index.ts';
import { type Database, isAmong } from '../../../../db/index.ts';
import { recordEvent } from '../../../activity/events/index.ts';
import { closeForeign } from '../../../code/repository/index.ts';
import { recordStateEvent } from '../../../conversation/resource_events/index.ts';
import { cleanUpAfterProjects } from '../../../people/namespaces/index.ts';

/** The most closed in one transaction. */
const at_once = 100;

/**
 * Closes the open ones, with the same effects as if the user had closed each.
 * @param user_id null for no user
 */
async function closeAll(tx: Database, ids: readonly number[], user_id: number | null): Promise<void> {
  const closed = await tx
    .updateTable('merge_requests')
    .set({ state: 'closed', closed_at: sql<string>`now()`, closed_by_id: user_id, updated_at: sql<string>`now()` })
    .set({ auto_merge_user_id: null, auto_merge_parameters: null })
    .where(isAmong('id', ids, 'bigint[]'))
    .where('state', '=', 'opened')
    .returning(['id', 'project_id'])
    .execute();
  for (const { id, project_id } of closed) {
    await recordStateEvent(tx, theMergeRequest(id), { user_id }, 'closed');
    await recordEvent(tx, {
      project_id,
      author_id: user_id,
      action: 'closed',
      target_type: 'MergeRequest',
      target_id: id,
    });
  }
}

async function closeWithoutSource(db: Database, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const orphans = db
      .selectFrom('merge_requests')
      .select('id')
      .where('state', '=', 'opened')
      .where('source_project_id', 'is', null);
    const ids = (await orphans.orderBy('id').limit(at_once).execute()).map(({ id }) => id);
    if (ids.length > 0) await db.transaction().execute((tx) => closeAll(tx, ids, null));
    if (ids.length < at_once) return;
  }
}

/**
 * Some open merge requests between the fork network of a project and projects outside it.
 * Both recursive unions terminate even if forks form a cycle.
 */
async function someForeign(db: Database, project_id: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    with recursive above (id) as (
      select ${project_id}::bigint
      union
      select forked_from_id from above join projects using (id) where forked_from_id is not null
    ), network (id) as (
      select id from above
      union
      select projects.id from network join projects on projects.forked_from_id = network.id
    )
    select merge_requests.id from network join merge_requests on project_id = network.id
     where state = 'opened' and source_project_id not in (select id from network)
    union
    select merge_requests.id from network join merge_requests on source_project_id = network.id
     where state = 'opened' and project_id not in (select id from network)
     order by id limit ${sql.lit(at_once)}`.execute(db);
  return rows.map(({ id }) => id);
}

/**
 * Closes merge requests between the fork network of a project and projects outside it.
 * @param user_id null for no user
 */
async function closeBetween(
  db: Database,
  signal: AbortSignal,
  project_id: number,
  user_id: number | null,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const ids = await someForeign(db, project_id);
    if (ids.length > 0) await db.transaction().execute((tx) => closeAll(tx, ids, user_id));
    if (ids.length < at_once) return;
  }
}

/** Closes merge requests whose fork was deleted, and those between forks that only the deleted project connected. */
export const closeOrphans = cleanUpAfterProjects.runBy(async ({ db, signal, input: { fork_ids = [] } }) => {
  await closeWithoutSource(db, signal);
  for (const fork_id of fork_ids) await closeBetween(db, signal, fork_id, null);
});

/** Closes merge requests between a project that is no longer a fork and projects outside its network. */
export const closeForeignOnes = closeForeign.runBy(({ db, signal, input: { project_id, user_id } }) =>
  closeBetween(db, signal, project_id, user_id),
);
