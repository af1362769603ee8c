/** Pipelines: the statuses that external systems report for a commit and ref, combined (docs/reference/pipelines.md). */
import { Type } from 'typebox';
import { repositoryOf, resolveBranch, resolveCommit } from '../../../git/index.ts';
import { found, get, Id, one, optional, pageOf } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { pipelinesReader } from './access.ts';
import { matching, pipelineFilters } from './filters.ts';
import { Pipeline, PipelineDetail, presentPipeline } from './present.ts';
import { pipelineReply, pipelinesOf, upstreamReply } from './queries.ts';

const path = '/projects/:id/pipelines';
const single = { pipeline_id: Id };
const missing = '404 Pipeline Not Found';

export const pipelineRoutes = [
  get(path, {
    operation: 'listPipelines',
    summary: 'List the pipelines of a project, newest first',
    access: pipelinesReader,
    input: { ...pipelineFilters, ...paging },
    returns: pageOf(Pipeline),
    handle: async ({ db, url, project, input }) => {
      const { order_by = 'id', sort = 'desc' } = input;
      const query = pipelinesOf(db, project)
        .where(matching(input))
        .orderBy(`pipelines.${order_by}`, sort)
        .$if(order_by !== 'id', (q) => q.orderBy('pipelines.id', sort));
      return mapPage(await paginate(db, query, input), (row) => presentPipeline(url, project.full_path, row));
    },
  }),
  get(`${path}/latest`, {
    operation: 'getLatestPipeline',
    summary: 'Get the pipeline of the newest commit of a branch or tag',
    access: pipelinesReader,
    input: { ref: optional(Type.String({ description: 'Branch or tag; default: the default branch' })) },
    returns: one(PipelineDetail),
    refusals: { 404: missing },
    handle: async ({ project, input, ...services }) => {
      const ref = input.ref || project.default_branch;
      const repository = repositoryOf(services, project);
      const sha = (await resolveBranch(repository, ref)) ?? (await resolveCommit(repository, `refs/tags/${ref}`));
      const query = pipelinesOf(services.db, project)
        .where('sha', '=', found('Pipeline', sha))
        .where('ref', '=', ref)
        .where('source', '<>', 'parent_pipeline')
        .orderBy('pipelines.id', 'desc')
        .limit(1);
      const { id } = found('Pipeline', await query.executeTakeFirst());
      return pipelineReply(services, project, id);
    },
  }),
  get(`${path}/:pipeline_id`, {
    operation: 'getPipeline',
    summary: 'Get a pipeline',
    access: pipelinesReader,
    input: single,
    returns: one(PipelineDetail),
    refusals: { 404: missing },
    handle: async ({ project, caller, input, ...services }) => {
      const reply = await pipelineReply(services, project, input.pipeline_id);
      if (reply.source !== 'pipeline' && reply.source !== 'parent_pipeline') return reply;
      return { ...reply, upstream_pipeline: await upstreamReply(services, caller, reply.id) };
    },
  }),
];
