/** Reporting the status of a commit. */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { badRequest } from '../../../http/index.ts';
import { isFinal, type State, transitionRefusal } from './rules.ts';

export interface Report {
  project: { id: number };
  caller: { id: number };
  sha: string;
  ref: string;
  name: string;
  state: State;
  /** Omitted members keep their values. */
  target_url?: string;
  description?: string;
  coverage?: number;
}

/** Serialises the reports on a commit, so that concurrent ones do not both insert a row. */
const lockCommit = (tx: Database, { project, sha }: Report) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`commit_statuses ${project.id} ${sha}`}, 0))`.execute(tx);

/** The unfinished status of the caller that this report updates. */
async function openReport(tx: Database, { project, caller, sha, ref, name }: Report) {
  const row = await tx
    .selectFrom('commit_statuses')
    .select(['id', 'status'])
    .where('project_id', '=', project.id)
    .where('sha', '=', sha)
    .where('ref', '=', ref)
    .where('name', '=', name)
    .where('retried', '=', false)
    .where('user_id', '=', caller.id)
    .where('status', 'in', ['pending', 'running'])
    .executeTakeFirst();
  return row && { id: row.id, status: row.status as 'pending' | 'running' };
}

/** The columns that follow from a state. */
const stateColumns = (state: State) => ({
  status: state,
  ...(state === 'running' ? { started_at: sql<string>`now()` } : {}),
  ...(isFinal(state) ? { finished_at: sql<string>`now()` } : {}),
});

/** Inserts a status, which replaces an earlier one of the same name. */
async function begin(tx: Database, report: Report): Promise<number> {
  const { project, caller, sha, ref, name, state, target_url, description, coverage } = report;
  await tx
    .updateTable('commit_statuses')
    .set({ retried: true })
    .where('project_id', '=', project.id)
    .where('sha', '=', sha)
    .where('ref', '=', ref)
    .where('name', '=', name)
    .where('retried', '=', false)
    .execute();
  const values = { project_id: project.id, user_id: caller.id, sha, ref, name, target_url, description, coverage };
  const { id } = await tx
    .insertInto('commit_statuses')
    .values({ ...values, ...stateColumns(state) })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/**
 * Updates the caller's status of this name, or creates one.
 * @returns its id
 * @throws ApiError 400 when the status cannot change to that state
 */
export function reportStatus(db: Database, report: Report): Promise<number> {
  const { state, target_url, description, coverage } = report;
  return db.transaction().execute(async (tx) => {
    await lockCommit(tx, report);
    const open = await openReport(tx, report);
    const refusal = transitionRefusal(open?.status ?? 'created', state);
    if (refusal !== undefined) throw badRequest(refusal);
    if (!open) return begin(tx, report);
    await tx
      .updateTable('commit_statuses')
      .set({ ...stateColumns(state), target_url, description, coverage })
      .where('id', '=', open.id)
      .execute();
    return open.id;
  });
}
