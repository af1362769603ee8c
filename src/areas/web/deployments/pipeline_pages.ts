/** Pipelines and jobs of a project (docs/reference/pipelines.md). */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { jobPage as jobAddress } from '../../../access/index.ts';
import type { Values } from '../../../http/index.ts';
import { filePage, type PageCall, page, pagingOf, textIn } from '../../../pages/index.ts';
import { TestReportSummary } from '../../ci/artifacts/index.ts';
import { Bridge, Job } from '../../code/jobs/index.ts';
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
    const [pipeline, jobs, bridges, tests, reads_code] = await Promise.all([
      one(PipelineDetail, 'getPipeline'),
      list(Job, 'listPipelineJobs', { ...pagingOf({ query }), per_page: 100 }),
      list(Bridge, 'listPipelineBridges', { per_page: 100 }),
      one(TestReportSummary, 'getPipelineTestReportSummary'),
      readsCode(call),
    ]);
    return { id: params.id!, pipeline, jobs, bridges, tests, reads_code };
  },
  forms: {
    retry: { runs: 'retryPipeline' },
    cancel: { runs: 'cancelPipeline' },
    play_bridge: { runs: 'playJob' },
    retry_bridge: { runs: 'retryJob' },
    cancel_bridge: { runs: 'cancelJob' },
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

/** So much of a log is on the page of its job. */
const shownOfLog_bytes = 512 * 1024;

/** The end of the log of a job; undefined where there is none, and where it is not shown. */
async function logOf({ bytes, perhaps, path }: PageCall) {
  const found = await perhaps(bytes('getJobTrace', { last_bytes: shownOfLog_bytes }));
  if (!found) return undefined;
  const content = found.body instanceof Readable ? await buffer(found.body) : (found.body as Buffer);
  const is_cut = content.length === shownOfLog_bytes;
  // A piece begins anywhere: what is left of its first line is left out.
  const from = is_cut ? content.indexOf('\n') + 1 : 0;
  return { text: content.subarray(from).toString('utf8'), is_cut, whole: `${path}/raw` };
}

const rawLogPage = filePage('/:id/-/jobs/:job_id/raw', ({ bytes }: PageCall) => bytes('getJobTrace'));

const jobPage = page('/:id/-/jobs/:job_id', {
  async load(call) {
    const [job, reads_code, log] = await Promise.all([call.one(Job, 'getJob'), readsCode(call), logOf(call)]);
    return { id: call.params.id!, job, reads_code, log };
  },
  forms: {
    play: { runs: 'playJob' },
    retry: { runs: 'retryJob', next: ({ id }: { id: number }, { params }: PageCall) => jobAddress(params.id!, id) },
    cancel: { runs: 'cancelJob' },
    erase: { runs: 'eraseJob' },
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

export const pipelinePages = [newPipelinePage, pipelinePage, pipelinesPage, rawLogPage, jobPage, jobsPage];
