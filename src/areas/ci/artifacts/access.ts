/** Which files a job may fetch (docs/reference/job_artifacts.md#runners). */
import type { SelectedJob } from '../../../ci_configuration/index.ts';
import type { Database } from '../../../db/index.ts';
import type { RunningJob } from '../held_jobs/queries.ts';
import { dependenciesOf } from './dependency_queries.ts';

/** Whether a job may fetch the files of another: its own, and those of the jobs that it gets files from, also of other pipelines. */
export async function isDependency(db: Database, holder: RunningJob, job_id: number): Promise<boolean> {
  if (job_id === holder.id) return true;
  const query = db.selectFrom('job_definitions').select('definition').where('job_id', '=', holder.id);
  const row = await query.$castTo<{ definition: SelectedJob }>().executeTakeFirst();
  if (!row) return false;
  const foreign = db.selectFrom('job_dependencies').select('dependency_id').where('job_id', '=', holder.id);
  if (await foreign.where('dependency_id', '=', job_id).executeTakeFirst()) return true;
  return (await dependenciesOf(db, holder.id, row.definition)).some(({ id }) => id === job_id);
}
