/** Closing open merge requests whose two projects have nothing to do with each other any more (docs/reference/merge_requests.md#branches). */
import { sql } from 'kysely';
import { theMergeRequest } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import { recordEvent } from '../../activity/events/index.ts';
import { closeForeign, isOneNetwork } from '../../code/repository/index.ts';
import { recordStateEvent } from '../../conversation/resource_events/index.ts';
import { cleanUpAfterProjects } from '../../people/namespaces/index.ts';

/** This many are closed in one transaction. */
const at_once = 100;

/**
 * Closes those that are open, with the same effects as if the user had closed each.
 * @param user_id null for nobody
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
    await recordEvent(tx, { project_id, author_id: user_id, action: 'closed', target_type: 'MergeRequest', target_id: id });
  }
}

/** Closes merge requests whose fork was deleted. */
export const closeOrphans = cleanUpAfterProjects.runBy(async ({ db, signal }) => {
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
});

/** The open merge requests between a project and others, a page of them. */
const withOthers = (db: Database, project_id: number, after: number) =>
  db
    .selectFrom('merge_requests')
    .select(['id', sql<number>`case when project_id = ${project_id} then source_project_id else project_id end`.as('other_id')])
    .where(sql<boolean>`(source_project_id = ${project_id} and project_id <> ${project_id}
                         or project_id = ${project_id} and source_project_id <> ${project_id})`)
    .where('state', '=', 'opened')
    .where('id', '>', after)
    .orderBy('id')
    .limit(at_once)
    .execute();

/** Closes merge requests between a project that is no fork any more, and projects outside its network. */
export const closeForeignOnes = closeForeign.runBy(async ({ db, signal, input: { project_id, user_id } }) => {
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const rows = await withOthers(db, project_id, after);
    const foreign = new Set<number>();
    for (const other_id of new Set(rows.map((row) => row.other_id)))
      if (!(await isOneNetwork(db, project_id, other_id))) foreign.add(other_id);
    const ids = rows.filter(({ other_id }) => foreign.has(other_id)).map(({ id }) => id);
    await db.transaction().execute((tx) => closeAll(tx, ids, user_id));
    if (rows.length < at_once) return;
    after = rows.at(-1)!.id;
  }
});
