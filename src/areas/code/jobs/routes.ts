/** Jobs: the statuses of pipelines (docs/reference/pipelines.md#jobs). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { Type } from 'typebox';
import type { Project } from '../../../access/index.ts';
import { isAmong } from '../../../db/index.ts';
import { get, Id, one, optional, pageOf, type Services } from '../../../http/index.ts';
import { type Paging, paginate, paging } from '../../../lists/index.ts';
import { pipelinesReader } from '../pipelines/access.ts';
import { pipelineIn } from '../pipelines/queries.ts';
import { states } from '../pipelines/rules.ts';
import { Bridge, bridgesOf, Job, jobReply, jobsOf, presentBridges, presentJobs } from './present.ts';

const single = { job_id: Id };
const missing = '404 Job Not Found';
const scope = {
  scope: optional(Type.Array(Type.Enum(states), { description: 'Only in these states; default: all' })),
};
const include_retried = Type.Boolean({ default: false, description: 'Include jobs that newer ones have replaced' });

interface Asked extends Paging {
  scope?: readonly string[];
}

type Jobs = ReturnType<typeof jobsOf>;

/** A predicate on rows of `commit_statuses`. */
const inScope = ({ scope: states = [] }: Asked): RawBuilder<SqlBool> =>
  states.length === 0 ? sql`true` : isAmong('status', states, 'text[]');

async function jobPage(services: Services, project: Project, jobs: Jobs, input: Asked) {
  const page = await paginate(services.db, jobs.where(inScope(input)).orderBy('id', 'desc'), input);
  return { ...page, items: await presentJobs(services, project, page.items) };
}

export const jobRoutes = [
  get('/projects/:id/jobs', {
    operation: 'listJobs',
    summary: 'List the jobs of a project, newest first',
    access: pipelinesReader,
    input: { ...scope, ...paging },
    returns: pageOf(Job),
    handle: ({ project, input, ...services }) => jobPage(services, project, jobsOf(services.db, project), input),
  }),
  get('/projects/:id/pipelines/:pipeline_id/jobs', {
    operation: 'listPipelineJobs',
    summary: 'List the jobs of a pipeline, newest first',
    access: pipelinesReader,
    input: { pipeline_id: Id, ...scope, include_retried, ...paging },
    returns: pageOf(Job),
    refusals: { 404: '404 Pipeline Not Found' },
    handle: async ({ project, input, ...services }) => {
      const { id } = await pipelineIn(services.db, project, input.pipeline_id);
      const jobs = jobsOf(services.db, project)
        .where('pipeline_id', '=', id)
        .$if(!input.include_retried, (q) => q.where('retried', '=', false));
      return jobPage(services, project, jobs, input);
    },
  }),
  get('/projects/:id/pipelines/:pipeline_id/bridges', {
    operation: 'listPipelineBridges',
    summary: 'List the jobs of a pipeline that start other pipelines, newest first',
    description: '`downstream_pipeline` is null before it is there, and for a caller who may not read it.',
    access: pipelinesReader,
    input: { pipeline_id: Id, ...scope, ...paging },
    returns: pageOf(Bridge),
    refusals: { 404: '404 Pipeline Not Found' },
    handle: async ({ project, caller, input, ...services }) => {
      const { id } = await pipelineIn(services.db, project, input.pipeline_id);
      const query = bridgesOf(services.db, project, caller)
        .where('pipeline_id', '=', id)
        .where('retried', '=', false)
        .where(inScope(input))
        .orderBy('id', 'desc');
      const page = await paginate(services.db, query, input);
      return { ...page, items: await presentBridges(services, project, page.items) };
    },
  }),
  get('/projects/:id/jobs/:job_id', {
    operation: 'getJob',
    summary: 'Get a job',
    access: pipelinesReader,
    input: single,
    returns: one(Job),
    refusals: { 404: missing },
    handle: ({ project, input, ...services }) => jobReply(services, project, input.job_id),
  }),
];
