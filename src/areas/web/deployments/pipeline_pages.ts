/** Pipelines and jobs of a project (docs/reference/pipelines.md). */
import type { Values } from '../../../http/index.ts';
import { type PageCall, page, pagingOf, textIn } from '../../../pages/index.ts';
import { Job, jobPage as jobAddress } from '../../code/jobs/index.ts';
import { Pipeline, PipelineDetail, pipelinePage as pipelineAddress } from '../../code/pipelines/index.ts';
import { formOf, sectionPage } from '../declared/definition.ts';
import { formPart } from '../declared/form_present.ts';
import { readsCode } from './definition.ts';
import { jobsView, jobView, pipelinesView, pipelineView } from './pipeline_views.ts';

const pipelinesPage = page('/:id/-/pipelines', {
  async load(call) {
    const { list, params, query } = call;
    const [pipelines, reads_code, may_start] = await Promise.all([
      list(Pipeline, 'listPipelines', pagingOf({ query })),
      readsCode(call),
      call.may('createPipeline'),
    ]);
    return { id: params.id!, pipelines, reads_code, may_start };
  },
  view: pipelinesView,
});

const pipelinePage = page('/:id/-/pipelines/:pipeline_id', {
  async load(call) {
    const { one, list, params, query } = call;
    const [pipeline, jobs, reads_code] = await Promise.all([
      one(PipelineDetail, 'getPipeline'),
      list(Job, 'listPipelineJobs', { ...pagingOf({ query }), per_page: 100 }),
      readsCode(call),
    ]);
    return { id: params.id!, pipeline, jobs, reads_code };
  },
  forms: {
    retry: { runs: 'retryPipeline' },
    cancel: { runs: 'cancelPipeline' },
    remove: { runs: 'deletePipeline', next: (_: never, { path }: PageCall) => path.replace(/\/[^/]+$/, '') },
  },
  view: pipelineView,
});

const newPipelinePage = sectionPage(
  '/:id/-/pipelines/new',
  { tab: 'pipelines', operation: 'createPipeline', title: 'Run a pipeline' },
  [
    formPart(
      'pipeline',
      formOf(
        'createPipeline',
        { ref: { label: 'Branch or tag', help: 'Its configuration says which jobs there are.' } },
        {
          button: 'Run pipeline',
          next: ({ id }: Values, { params }: PageCall) => pipelineAddress(params.id!, Number(id)),
        },
      ),
    ),
  ],
);

const jobPage = page('/:id/-/jobs/:job_id', {
  async load(call) {
    const [job, reads_code] = await Promise.all([call.one(Job, 'getJob'), readsCode(call)]);
    return { id: call.params.id!, job, reads_code };
  },
  forms: {
    play: { runs: 'playJob' },
    retry: { runs: 'retryJob', next: ({ id }: { id: number }, { params }: PageCall) => jobAddress(params.id!, id) },
    cancel: { runs: 'cancelJob' },
  },
  view: jobView,
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

export const pipelinePages = [newPipelinePage, pipelinePage, pipelinesPage, jobPage, jobsPage];
