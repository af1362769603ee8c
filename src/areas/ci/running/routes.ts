/** Starting and changing pipelines (docs/reference/pipelines.md#changing-pipelines). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { levels, type Project, projectRole } from '../../../access/index.ts';
import {
  type AnyEndpoint,
  badParam,
  del,
  forbidden,
  get,
  Id,
  invalid,
  notAllowed,
  nothing,
  one,
  optional,
  pageOf,
  post,
  put,
  type Services,
} from '../../../http/index.ts';
import { pageOfArray, paging } from '../../../lists/index.ts';
import { changedJobReply, Job } from '../../code/jobs/index.ts';
import { PipelineDetail, pipelineIn, pipelineReply, removePipeline } from '../../code/pipelines/index.ts';
import { endlessFreezeText, freezeText } from '../../deployments/environments/index.ts';
import { mayGiveVariables, refuseCancelling, runnableJob, runnablePipeline } from './access.ts';
import {
  cancelJobs,
  cancelPipeline,
  cancelTree,
  forceCancel,
  notRetryableText,
  playJob,
  retryJob,
  retryPipeline,
} from './change_actions.ts';
import { unplayableText } from './deployment_actions.ts';
import { givenVariable, Inputs, JobVariables, mostVariables, PipelineVariable } from './parameters.ts';
import { jobIn, jobVariablePurpose, pipelineOf, variablesOf } from './queries.ts';
import { createPipeline, doubledText, noVariablesText, startRefusals } from './start_actions.ts';

const path = '/projects/:id/pipelines/:pipeline_id';
const single = { pipeline_id: Id };
const missing = '404 Pipeline Not Found';
const jobPath = '/projects/:id/jobs/:job_id';
const singleJob = { job_id: Id };
const missingJob = '404 Job Not Found';
const notCancelingText = 'is for jobs that are canceling';
const external = '405 Method Not Allowed';

const frozen = [`403 Forbidden - ${freezeText('<time>')}`, `403 Forbidden - ${endlessFreezeText}`];

const developer = projectRole('developer', { feature: ['repository', 'builds'] });

const variableTexts = [`base: ${noVariablesText}`, `base: ${doubledText('<key>')}`];

/**
 * The variables that a caller gives to a job, as they are stored.
 * @throws ApiError 400
 */
async function sealedVariables(
  { db, secrets }: Pick<Services, 'db' | 'secrets'>,
  project: Project,
  given: readonly { key: string; value: string }[] = [],
) {
  if (given.length > 0 && !(await mayGiveVariables({ db, project }))) throw invalid({ base: [noVariablesText] });
  const doubled = given.find(({ key }, index) => given.findIndex((other) => other.key === key) !== index);
  if (doubled) throw invalid({ base: [doubledText(doubled.key)] });
  return given.map(({ key, value }) => ({ key, value: secrets.seal(jobVariablePurpose, value) }));
}

export const runningRoutes: AnyEndpoint[] = [
  post('/projects/:id/pipeline', {
    operation: 'createPipeline',
    summary: 'Create a pipeline of the configuration of a branch or tag',
    access: developer,
    input: {
      ref: Type.String({ minLength: 1, description: 'Branch or tag' }),
      variables: optional(Type.Array(Type.Object(givenVariable), { maxItems: mostVariables })),
      inputs: optional(Inputs),
    },
    returns: one(PipelineDetail),
    refusals: { 400: startRefusals.map((text) => `base: ${text}`) },
    handle: async ({ project, caller, input, ...services }) => {
      const { ref, variables = [], inputs } = input;
      const given = variables.map(({ variable_type = 'env_var', ...variable }) => ({ ...variable, variable_type }));
      const source = caller.token.kind === 'session' ? ('web' as const) : ('api' as const);
      const asked = { source, ref, variables: given, ...(inputs && { inputs }) };
      const id = await createPipeline(services, { project, caller }, asked);
      return pipelineReply(services, project, id);
    },
  }),
  get(`${path}/variables`, {
    operation: 'listPipelineVariables',
    summary: 'List the variables that whoever started a pipeline gave it',
    description: 'For Maintainers, and for Developers who started it.',
    access: projectRole('developer', { feature: 'repository' }),
    input: { ...single, ...paging },
    returns: pageOf(PipelineVariable),
    refusals: { 403: '403 Forbidden', 404: missing },
    handle: async ({ project, caller, input, ...services }) => {
      await pipelineIn(services.db, project, input.pipeline_id);
      const pipeline = await pipelineOf(services.db, project.id, input.pipeline_id);
      if (!pipeline) return pageOfArray([], input);
      if (project.access_level < levels.maintainer && pipeline.user_id !== caller.id) throw forbidden();
      return pageOfArray(await variablesOf(services, pipeline.id), input);
    },
  }),
  del(path, {
    operation: 'deletePipeline',
    summary: 'Delete a pipeline with its jobs or statuses, and its children',
    description: 'Jobs that have not ended are cancelled first, so that others get their resources.',
    access: projectRole('owner', { feature: 'repository' }),
    input: single,
    returns: nothing,
    refusals: { 404: missing },
    handle: async ({ db, project, input }) => {
      const pipeline = await pipelineOf(db, project.id, input.pipeline_id);
      if (pipeline) await cancelTree(db, { project_id: project.id, id: pipeline.id });
      await removePipeline(db, project.id, input.pipeline_id);
    },
  }),
  post(`${path}/retry`, {
    operation: 'retryPipeline',
    summary: 'Run the failed and canceled jobs of a pipeline again',
    access: developer,
    input: single,
    returns: one(PipelineDetail),
    refusals: { 403: '403 Forbidden', 404: missing, 405: external },
    handle: async ({ project, caller, input, ...services }) => {
      const { db } = services;
      const { id } = await runnablePipeline({ db, project, caller }, input.pipeline_id);
      await retryPipeline(db, project.id, id, caller.id);
      return pipelineReply(services, project, id);
    },
  }),
  post(`${path}/cancel`, {
    operation: 'cancelPipeline',
    summary: 'Cancel the jobs of a pipeline that have not ended',
    access: developer,
    input: single,
    returns: { ...one(PipelineDetail), status: 200 },
    refusals: { 403: '403 Forbidden', 404: missing, 405: external },
    handle: async ({ project, input, ...services }) => {
      const pipeline = await pipelineOf(services.db, project.id, input.pipeline_id);
      if (!pipeline) throw notAllowed();
      await refuseCancelling({ db: services.db, project });
      await cancelPipeline(services.db, { project_id: project.id, id: pipeline.id });
      return pipelineReply(services, project, pipeline.id);
    },
  }),
  put(`${path}/metadata`, {
    operation: 'renamePipeline',
    summary: 'Name a pipeline',
    access: developer,
    input: { ...single, name: Type.String({ maxLength: 255 }) },
    returns: one(PipelineDetail),
    refusals: { 404: missing, 405: external },
    handle: async ({ project, input, ...services }) => {
      const pipeline = await pipelineOf(services.db, project.id, input.pipeline_id);
      if (!pipeline) throw notAllowed();
      await services.db
        .updateTable('pipelines')
        .set({ name: input.name, updated_at: sql<string>`now()` })
        .where('id', '=', pipeline.id)
        .where('name', 'is distinct from', input.name)
        .execute();
      return pipelineReply(services, project, pipeline.id);
    },
  }),
  post(`${jobPath}/play`, {
    operation: 'playJob',
    summary: 'Start a manual or delayed job',
    access: developer,
    input: {
      ...singleJob,
      override_freeze: Type.Boolean({
        default: false,
        description: 'Whether it deploys during a freeze that refuses deployments; only for Maintainers',
      }),
      job_variables_attributes: JobVariables,
    },
    returns: { ...one(Job), status: 200 },
    refusals: {
      400: [unplayableText, ...variableTexts],
      403: ['403 Forbidden', ...frozen],
      404: missingJob,
      405: external,
    },
    handle: async ({ project, caller, input, ...services }) => {
      const { db } = services;
      const job = await runnableJob({ db, project, caller }, input.job_id);
      const variables = await sealedVariables(services, project, input.job_variables_attributes);
      const { override_freeze } = input;
      await playJob(db, project.id, job, { user_id: caller.id, variables, override_freeze });
      return changedJobReply(services, { project, caller }, job.id);
    },
  }),
  post(`${jobPath}/retry`, {
    operation: 'retryJob',
    summary: 'Run a job that has ended again, as a new one',
    access: developer,
    input: { ...singleJob, job_variables_attributes: JobVariables },
    returns: one(Job),
    refusals: {
      400: variableTexts,
      403: ['403 Forbidden', `403 Forbidden - ${notRetryableText}`, ...frozen],
      404: missingJob,
      405: external,
    },
    handle: async ({ project, caller, input, ...services }) => {
      const { db } = services;
      const job = await runnableJob({ db, project, caller }, input.job_id);
      const variables = await sealedVariables(services, project, input.job_variables_attributes);
      const id = await retryJob(db, project.id, job, { user_id: caller.id, variables });
      return changedJobReply(services, { project, caller }, id);
    },
  }),
  post(`${jobPath}/cancel`, {
    operation: 'cancelJob',
    summary: 'Cancel a job that has not ended',
    access: developer,
    input: {
      ...singleJob,
      force: Type.Boolean({ default: false, description: 'Whether a job is `canceled` at once that is `canceling`' }),
    },
    returns: one(Job),
    refusals: { 400: `force ${notCancelingText}`, 403: '403 Forbidden', 404: missingJob, 405: external },
    handle: async ({ project, caller, input, ...services }) => {
      const job = await jobIn(services.db, project.id, input.job_id);
      if (!job) throw notAllowed();
      await refuseCancelling({ db: services.db, project });
      const pipeline = { project_id: project.id, id: job.pipeline_id };
      if (!input.force) await cancelJobs(services.db, pipeline, sql`id = ${job.id}`);
      else if (!(await forceCancel(services.db, pipeline, job.id))) throw badParam('force', notCancelingText);
      return changedJobReply(services, { project, caller }, job.id);
    },
  }),
];
