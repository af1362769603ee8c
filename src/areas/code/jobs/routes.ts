/** Jobs: the statuses of pipelines (docs/reference/pipelines.md#jobs). */
import { Type } from 'typebox';
import type { Project } from '../../../access/index.ts';
import { get, Id, one, optional, pageOf, type Services } from '../../../http/index.ts';
import { type Paging, paginate, paging } from '../../../lists/index.ts';
import { pipelinesReader } from '../pipelines/access.ts';
import { pipelineIn } from '../pipelines/queries.ts';
import { type State, states } from '../pipelines/rules.ts';
import { Job, jobReply, jobsOf, presentJobs } from './present.ts';

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

async function jobPage(services: Services, project: Project, jobs: Jobs, input: Asked) {
  const query = jobs
    .$if(input.scope !== undefined && input.scope.length > 0, (q) =>
      q.where('status', 'in', [...input.scope!] as State[]),
    )
    .orderBy('id', 'desc');
  const page = await paginate(services.db, query, input);
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
