/** Who may change pipelines and jobs (docs/reference/pipelines.md#permissions). */
import type { Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, forbidden, notAllowed } from '../../../http/index.ts';
import { rightsOn } from '../configuration/variable_queries.ts';
import { type JobOf, jobIn, type PipelineOf, pipelineOf } from './queries.ts';

interface Granted {
  db: Database;
  project: Project;
  caller: Caller;
}

/** @throws ApiError 403 unless the caller may run pipelines for the branch or tag */
async function mayRunOn({ db, project, caller }: Granted, { ref, tag }: { ref: string; tag: boolean }): Promise<void> {
  const { may_run } = await rightsOn(db, project, caller, { type: tag ? 'tag' : 'branch', name: ref });
  if (!may_run) throw forbidden();
}

/**
 * A pipeline that the caller may run again.
 * @throws ApiError 403, 404, 405 for a pipeline of reported statuses
 */
export async function runnablePipeline(granted: Granted, id: number): Promise<PipelineOf> {
  const pipeline = await pipelineOf(granted.db, granted.project.id, id);
  if (!pipeline) throw notAllowed();
  await mayRunOn(granted, pipeline);
  return pipeline;
}

/**
 * A job that the caller may run.
 * @throws ApiError 403, 404, 405 for a reported status
 */
export async function runnableJob(granted: Granted, id: number): Promise<JobOf> {
  const job = await jobIn(granted.db, granted.project.id, id);
  if (!job) throw notAllowed();
  await mayRunOn(granted, job);
  return job;
}
