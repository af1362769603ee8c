/** The refs that keep the commits of pipelines for their jobs (docs/reference/runner_protocol.md#the-job). */
import { type SqlBool, sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import { pipelineRef, type Repository, repositoryOf, resolveCommit, setKeptRefs } from '../../../git/index.ts';
import type { JobServices } from '../../../services/index.ts';
import { finalStates } from '../../code/pipelines/index.ts';

/** Keeps the commit of a pipeline. It is noted first, so that no ref is left that nobody knows. */
export async function keepCommit(
  db: Database,
  repository: Repository,
  { id, sha }: { id: number; sha: string },
): Promise<void> {
  const ref = pipelineRef(id);
  if ((await resolveCommit(repository, ref)) === sha) return;
  await db.updateTable('pipelines').set({ has_ref: true }).where('id', '=', id).execute();
  await setKeptRefs(repository, new Map([[ref, sha]]));
}

/** So many are looked at in one run. */
const mostAtOnce = 1_000;

const isOver = sql<SqlBool>`
  (pipelines.status in (${sql.join([...finalStates])}) and coalesce(pipelines.finished_at, pipelines.updated_at) < now() - interval '1 hour')`;

/** Removes the refs of pipelines that ended an hour ago. One that is retried gets its ref again. */
export async function removeOldRefs({ db, storages }: Pick<JobServices, 'db' | 'storages'>): Promise<void> {
  const rows = await db
    .selectFrom('pipelines')
    .innerJoin('projects', 'projects.id', 'pipelines.project_id')
    .select(['pipelines.id', 'projects.id as project_id', 'projects.storage'])
    .where('has_ref', '=', true)
    .where(isOver)
    .orderBy('pipelines.id')
    .limit(mostAtOnce)
    .execute();
  for (const [project_id, pipelines] of Map.groupBy(rows, (row) => row.project_id)) {
    const repository = repositoryOf({ storages }, { id: project_id, storage: pipelines[0]!.storage });
    await setKeptRefs(repository, new Map(pipelines.map(({ id }) => [pipelineRef(id), null])));
    const ids = pipelines.map(({ id }) => id);
    await db.updateTable('pipelines').set({ has_ref: false }).where('id', 'in', ids).execute();
  }
}
