/** Keeps pipelines consistent with their statuses. */
import { sql } from 'kysely';
import { type Database, nextIid, takeTurn } from '../../../db/index.ts';
import { found, invalid } from '../../../http/index.ts';
import { followPipeline } from './bridge_actions.ts';
import { type Counted, isFinal, overallStatus, type State } from './rules.ts';

export interface Place {
  project_id: number;
  sha: string;
  ref: string;
  /** Whether the ref is a tag. */
  tag: boolean;
  user_id: number;
}

/** Serialises reports on a commit, so that concurrent reports create one status and one pipeline. */
export const lockCommit = (tx: Database, { project_id, sha }: Pick<Place, 'project_id' | 'sha'>) =>
  takeTurn(tx, `commit_statuses ${project_id} ${sha}`);

export const otherPipelineText = 'is not a pipeline of this commit and ref';

/** The ref of the pipeline that a report names by id. The report may omit the ref. */
export async function refOfPipeline(
  db: Database,
  { id, project_id, sha, ref }: { id: number; project_id: number; sha: string; ref: string | undefined },
): Promise<string> {
  const query = db.selectFrom('pipelines').select(['ref', 'source']).where('id', '=', id);
  const row = await query.where('project_id', '=', project_id).where('sha', '=', sha).executeTakeFirst();
  if (row?.source !== 'external' || (ref !== undefined && ref !== row.ref))
    throw invalid({ pipeline_id: [otherPipelineText] });
  return row.ref;
}

/**
 * The pipeline of the statuses of a commit and ref, created with the first one.
 * @param tx a transaction that has locked the commit
 */
export async function pipelineFor(tx: Database, { project_id, sha, ref, tag, user_id }: Place, status: State) {
  const query = tx.selectFrom('pipelines').select('id').where('project_id', '=', project_id);
  const known = await query
    .where('sha', '=', sha)
    .where('ref', '=', ref)
    .where('source', '=', 'external')
    .executeTakeFirst();
  if (known) return { id: known.id, isNew: false };
  const iid = await nextIid(tx, { project_id }, 'pipelines');
  const { id } = await tx
    .insertInto('pipelines')
    .values({ project_id, iid, sha, ref, tag, user_id, status })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, isNew: true };
}

/** The distinct states of the current jobs of a pipeline, each with whether a failure counts. */
async function countedIn(tx: Database, id: number): Promise<Counted[]> {
  const query = tx.selectFrom('commit_statuses').select(['status', 'allow_failure']).distinct();
  const rows = await query.where('pipeline_id', '=', id).where('retried', '=', false).execute();
  return rows as Counted[];
}

/**
 * Updates the status of a pipeline from its statuses or jobs.
 * @param tx a transaction that has locked the commit or the pipeline
 * @returns the status before and after
 */
export async function refreshPipeline(tx: Database, id: number): Promise<{ before: State; after: State }> {
  const row = found(
    undefined,
    await tx.selectFrom('pipelines').select('status').where('id', '=', id).executeTakeFirst(),
  );
  const before = row.status as State;
  const after = overallStatus(await countedIn(tx, id)) ?? before;
  await tx
    .updateTable('pipelines')
    .set({
      status: after,
      updated_at: sql<string>`now()`,
      finished_at: isFinal(after) ? sql<string>`coalesce(finished_at, now())` : null,
      ...(after === 'running' ? { started_at: sql<string>`coalesce(started_at, now())` } : {}),
    })
    .where('id', '=', id)
    .execute();
  return { before, after };
}

/**
 * Deletes a pipeline, its jobs or statuses, and its children.
 * @throws ApiError 404
 */
export async function removePipeline(db: Database, project_id: number, id: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const query = tx.selectFrom('pipelines').select('sha').where('project_id', '=', project_id).where('id', '=', id);
    const { sha } = found('Pipeline', await query.executeTakeFirst());
    await lockCommit(tx, { project_id, sha });
    await followPipeline(tx, id);
    await tx.deleteFrom('pipelines').where('id', '=', id).execute();
  });
}
