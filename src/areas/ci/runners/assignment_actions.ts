/** Which projects a runner of projects takes jobs of. */
import { sql } from 'kysely';
import type { Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, forbidden, found, invalid } from '../../../http/index.ts';
import { type GrantedRunner, noAccess, rightsOn } from './access.ts';
import { checkLimit } from './actions.ts';

export const assignmentTexts = {
  locked: 'Runner is locked',
  group: 'Runner is a group runner',
  instance: 'Runner is an instance runner',
  taken: 'Runner has already been taken',
  last: 'Only one project associated with the runner. Please remove the runner instead',
  owner: 'You cannot unassign a runner from the owner project. Delete the runner instead',
};

/** The runner learns that other jobs are for it. */
const moveCursor = (tx: Database, runner_id: number) =>
  tx.updateTable('runners').set({ updated_at: sql`now()` }).where('id', '=', runner_id).execute();

/**
 * Assigns a runner to a further project (docs/reference/runners.md#projects-of-a-runner).
 * @throws ApiError 400 when it has the project, or the project too many runners; 403
 */
export async function assignRunner(
  db: Database,
  caller: Caller,
  { id: project_id }: Project,
  runner: GrantedRunner,
): Promise<void> {
  if (runner.runner_type === 'group_type') throw forbidden(assignmentTexts.group);
  if (runner.runner_type === 'instance_type') throw forbidden(assignmentTexts.instance);
  if (!(await rightsOn(db, caller, runner)).assigns) throw forbidden(noAccess);
  if (runner.locked && !caller.admin) throw forbidden(assignmentTexts.locked);
  await db.transaction().execute(async (tx) => {
    const locked = await tx
      .selectFrom('runners')
      .select('id')
      .where('id', '=', runner.id)
      .forNoKeyUpdate()
      .executeTakeFirst();
    found('Runner', locked);
    await checkLimit(tx, { namespace_id: null, project_id });
    const added = await tx
      .insertInto('runner_projects')
      .values({ runner_id: runner.id, project_id })
      .onConflict((conflict) => conflict.doNothing())
      .returning('runner_id')
      .executeTakeFirst();
    if (!added) throw invalid({ base: [assignmentTexts.taken] });
    await moveCursor(tx, runner.id);
  });
}

/**
 * Takes a runner from a project that does not own it. The owner is the project that it was made in or, when that is gone, the first of the others.
 * @throws ApiError 403, 404
 */
export const unassignRunner = (db: Database, project_id: number, runner_id: number): Promise<void> =>
  db.transaction().execute(async (tx) => {
    await tx.selectFrom('runners').select('id').where('id', '=', runner_id).forNoKeyUpdate().execute();
    const held = await tx
      .selectFrom('runner_projects')
      .select('project_id')
      .where('runner_id', '=', runner_id)
      .orderBy('is_owner', 'desc')
      .orderBy('project_id')
      .execute();
    found(
      'Runner',
      held.find((row) => row.project_id === project_id),
    );
    if (held.length === 1) throw forbidden(assignmentTexts.last);
    if (held[0]!.project_id === project_id) throw forbidden(assignmentTexts.owner);
    await tx
      .deleteFrom('runner_projects')
      .where('runner_id', '=', runner_id)
      .where('project_id', '=', project_id)
      .execute();
    await moveCursor(tx, runner_id);
  });
