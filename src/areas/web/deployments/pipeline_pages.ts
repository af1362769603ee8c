/** Pipelines and jobs of a project (docs/reference/pipelines.md). */
import { type PageCall, page, pagingOf, textIn } from '../../../pages/index.ts';
import { Job } from '../../code/jobs/index.ts';
import { Pipeline, PipelineDetail } from '../../code/pipelines/index.ts';
import { readsCode } from './definition.ts';
import { jobsView, pipelinesView, pipelineView } from './pipeline_views.ts';

const pipelinesPage = page('/:id/-/pipelines', {
  async load(call) {
    const { list, params, query } = call;
    const [pipelines, reads_code] = await Promise.all([
      list(Pipeline, 'listPipelines', pagingOf({ query })),
      readsCode(call),
    ]);
    return { id: params.id!, pipelines, reads_code };
  },
  view: pipelinesView,
});

const pipelinePage = page('/:id/-/pipelines/:pipeline_id', {
  async load(call) {
    const { one, list, params, query } = call;
    const [pipeline, jobs, reads_code] = await Promise.all([
      one(PipelineDetail, 'getPipeline'),
      list(Job, 'listPipelineJobs', pagingOf({ query })),
      readsCode(call),
    ]);
    return { id: params.id!, pipeline, jobs, reads_code };
  },
  forms: {
    remove: { runs: 'deletePipeline', next: (_: never, { path }: PageCall) => path.replace(/\/[^/]+$/, '') },
  },
  view: pipelineView,
});

const jobsPage = page('/:id/-/jobs', {
  async load(call) {
    const { list, params, query } = call;
    const status = textIn(query, 'status') ?? 'all';
    const scope = status === 'all' ? {} : { scope: [status] };
    const [jobs, reads_code] = await Promise.all([
      list(Job, 'listJobs', { ...pagingOf({ query }), ...scope }),
      readsCode(call),
    ]);
    return { id: params.id!, status, jobs, reads_code };
  },
  view: jobsView,
});

export const pipelinePages = [pipelinePage, pipelinesPage, jobsPage];
