/** Who may change pipelines and jobs (docs/reference/pipelines.md#permissions). */
import { levels, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Caller, forbidden, notAllowed } from '../../../http/index.ts';
import { rightsBetween, rightsOn } from '../configuration/variable_queries.ts';
import { type Branches, type BuiltFor, type JobOf, jobIn, type PipelineOf, pipelineOf } from './queries.ts';

interface Granted {
  db: Database;
  project: Project;
  caller: Caller;
}

/** Levels by the words of settings; nobody has the level of the others. */
const levelOf: Readonly<Record<string, number>> = {
  developer: levels.developer,
  maintainer: levels.maintainer,
  owner: levels.owner,
};

/** Whether the level of a caller is what a setting of the project asks for. */
async function isAtLeast(
  { db, project }: Pick<Granted, 'db' | 'project'>,
  setting: 'ci_pipeline_variables_minimum_override_role' | 'ci_restrict_pipeline_cancellation_role',
): Promise<boolean> {
  const query = db.selectFrom('projects').select(`${setting} as role`).where('id', '=', project.id);
  const { role } = await query.executeTakeFirstOrThrow();
  return project.access_level >= (levelOf[role] ?? Number.POSITIVE_INFINITY);
}

/** Whether a caller may give variables to what they start. */
export const mayGiveVariables = (granted: Pick<Granted, 'db' | 'project'>): Promise<boolean> =>
  isAtLeast(granted, 'ci_pipeline_variables_minimum_override_role');

/** @throws ApiError 403 unless the caller may cancel pipelines and jobs */
export async function refuseCancelling(granted: Pick<Granted, 'db' | 'project'>): Promise<void> {
  if (!(await isAtLeast(granted, 'ci_restrict_pipeline_cancellation_role'))) throw forbidden();
}

/** The rights for a pipeline of a merge request: one with what is for protected branches alone is for who would get it now. */
async function mayRunForMergeRequest(granted: Granted, { is_protected, branches }: BuiltFor & { branches: Branches }) {
  const { db, project, caller } = granted;
  const rights = await rightsBetween(db, project, caller, { ...branches, is_within: is_protected });
  return rights.may_run && (!is_protected || rights.is_protected);
}

/** @throws ApiError 403 unless the caller may run pipelines for the branch, tag or merge request, and for a pipeline that is too old */
async function mayRunOn(granted: Granted, built: BuiltFor): Promise<void> {
  const { db, project, caller } = granted;
  const { ref, tag, branches, archived } = built;
  if (archived) throw forbidden();
  const may_run = branches
    ? await mayRunForMergeRequest(granted, { ...built, branches })
    : (await rightsOn(db, project, caller, { type: tag ? 'tag' : 'branch', name: ref })).may_run;
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
