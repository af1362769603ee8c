/** Queries for pipelines that are made of a configuration, and for their jobs. */
import { sql } from 'kysely';
import { mergeRequestKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { found, type Services } from '../../../http/index.ts';
import { isArchived } from '../../code/pipelines/index.ts';
import type { PlannedJob } from './rules.ts';

/** A pipeline while its jobs change. */
export interface Running {
  id: number;
  project_id: number;
  sha: string;
  ref: string;
  tag: boolean;
}

/**
 * Locks a pipeline, so that its jobs change in one transaction at a time.
 * @throws ApiError 404, also for a pipeline of reported statuses
 */
export async function lockPipeline(tx: Database, project_id: number, id: number): Promise<Running> {
  const query = tx.selectFrom('pipelines').select(['id', 'project_id', 'sha', 'ref', 'tag']).where('id', '=', id);
  const row = await query
    .where('project_id', '=', project_id)
    .where('source', '<>', 'external')
    .forUpdate()
    .executeTakeFirst();
  return found('Pipeline', row);
}

/** The current jobs of a pipeline. */
export async function plannedJobs(tx: Database, pipeline_id: number): Promise<PlannedJob[]> {
  const { rows } = await sql<PlannedJob>`
    select id, name, status, allow_failure, stage_index, run_when, needs from commit_statuses
     where pipeline_id = ${pipeline_id} and not retried order by id`.execute(tx);
  return rows;
}

/** The branches of a merge request. */
export interface Branches {
  source_branch: string;
  target_branch: string;
}

/** What a pipeline was made for. */
export interface BuiltFor {
  ref: string;
  tag: boolean;
  is_protected: boolean;
  /** Whether it is too old to run again. */
  archived: boolean;
  /** Null unless it is a pipeline of a merge request. */
  branches: Branches | null;
}

/** The branches of the merge request that each row of `pipelines` is about. */
const branches = sql<Branches | null>`case when predefined->>'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME' is not null then jsonb_build_object(
  'source_branch', pipelines.predefined->>'CI_MERGE_REQUEST_SOURCE_BRANCH_NAME', 'target_branch', pipelines.predefined->>'CI_MERGE_REQUEST_TARGET_BRANCH_NAME') end`;

export interface JobOf extends BuiltFor {
  id: number;
  name: string;
  status: PlannedJob['status'];
  pipeline_id: number;
  retried: boolean;
  /** Who runs it. */
  user_id: number | null;
}

/**
 * A job with the ref of its pipeline; undefined for a reported status.
 * @throws ApiError 404
 */
export async function jobIn(db: Database, project_id: number, id: number): Promise<JobOf | undefined> {
  const { rows } = await sql<JobOf & { kind: string }>`
    select job.id, job.name, job.status, job.pipeline_id, job.retried, job.user_id, job.kind, pipelines.ref, pipelines.tag, pipelines.is_protected, ${isArchived} as archived, ${branches} as branches
      from commit_statuses job join pipelines on pipelines.id = job.pipeline_id
     where job.project_id = ${project_id} and job.id = ${id}`.execute(db);
  const { kind, ...job } = found('Job', rows[0]);
  return kind === 'status' ? undefined : job;
}

export interface PipelineOf extends BuiltFor {
  id: number;
  user_id: number | null;
}

/**
 * A pipeline that was made of a configuration; undefined for one of reported statuses.
 * @throws ApiError 404
 */
export async function pipelineOf(db: Database, project_id: number, id: number): Promise<PipelineOf | undefined> {
  const query = db
    .selectFrom('pipelines')
    .select(['id', 'ref', 'tag', 'is_protected', 'user_id', 'source'])
    .select([branches.as('branches'), isArchived.as('archived')])
    .where('id', '=', id);
  const { source, ...row } = found('Pipeline', await query.where('project_id', '=', project_id).executeTakeFirst());
  return source === 'external' ? undefined : row;
}

/** The purpose that the values are sealed with. */
export const jobVariablePurpose = 'job variable';

/** The variables that whoever started a job gave it, by key. */
export async function variablesGivenTo({ db, secrets }: Pick<Services, 'db' | 'secrets'>, job_id: number) {
  const query = db.selectFrom('job_variables').select(['key', 'value']).where('job_id', '=', job_id);
  return (await query.orderBy('key').execute()).flatMap(({ key, value }) => {
    const text = secrets.unseal(jobVariablePurpose, value);
    return text === undefined ? [] : [{ key, value: text }];
  });
}

/** The variables that whoever started a pipeline gave it, by key. */
export async function variablesOf({ db, secrets }: Pick<Services, 'db' | 'secrets'>, pipeline_id: number) {
  const query = db.selectFrom('pipeline_variables').select(['key', 'value', 'variable_type', 'raw']);
  const rows = await query.where('pipeline_id', '=', pipeline_id).orderBy('key').execute();
  return rows.map(({ value, variable_type, ...row }) => ({
    ...row,
    variable_type: variable_type as 'env_var' | 'file',
    value: secrets.unseal('pipeline variable', value) ?? null,
  }));
}

/** The most merge requests of a branch that jobs get. */
const mostOpen = 4;

/** The open merge requests of a branch as jobs get them, `group/project!iid`, oldest first; undefined if there are none. */
export async function openOnesOf(db: Database, project_id: number, branch: string): Promise<string | undefined> {
  const { rows } = await sql<{ name: string }>`
    select projects.full_path || '!' || m.iid as name from ${sql.table(mergeRequestKind.table)} m join projects on projects.id = m.project_id
     where m.source_project_id = ${project_id} and m.source_branch = ${branch} and m.state = 'opened' order by m.id limit ${mostOpen}`.execute(
    db,
  );
  return rows.length === 0 ? undefined : rows.map(({ name }) => name).join(',');
}
