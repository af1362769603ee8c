/** Files of jobs, and results of tests (docs/reference/job_artifacts.md#pages). */
import { jobPage, pageBelow } from '../../../access/index.ts';
import { inAddress } from '../../../foundation/addresses.ts';
import { found, notFound } from '../../../http/index.ts';
import { filePage, type PageCall, page, pagingOf, redirect, textIn } from '../../../pages/index.ts';
import { ArtifactEntry, TestReport } from '../../ci/artifacts/index.ts';
import { Job } from '../../code/jobs/index.ts';
import { Pipeline, PipelineDetail } from '../../code/pipelines/index.ts';
import { folderView, testsView } from './artifact_views.ts';

const files = '/:id/-/jobs/:job_id/artifacts';

/** A folder of an archive, or its top. */
async function load({ one, list, params, query }: PageCall) {
  const folder = (params.folder ?? '').replace(/\/$/, '');
  const [job, entries] = await Promise.all([
    one(Job, 'getJob'),
    list(ArtifactEntry, 'listJobArtifactTree', { ...pagingOf({ query }), path: folder }),
  ]);
  return { id: params.id!, job, folder, entries };
}

const testsPage = page('/:id/-/pipelines/:pipeline_id/test_report', {
  async load({ one, params }) {
    const [pipeline, report] = await Promise.all([
      one(PipelineDetail, 'getPipeline'),
      one(TestReport, 'getPipelineTestReport'),
    ]);
    return { id: params.id!, pipeline, report };
  },
  view: testsView,
});

/** The pages of jobs that one asks for at once. */
const at_once = 100;

/**
 * The job of a name in the newest pipeline of a branch or tag that has succeeded.
 * @throws ApiError 404
 */
async function jobNamed({ list }: PageCall, ref: string, name: string): Promise<number> {
  const { items } = await list(Pipeline, 'listPipelines', { ref, status: 'success', per_page: 1 });
  const pipeline_id = found(undefined, items[0]).id;
  for (let page = 1; ; page++) {
    const jobs = await list(Job, 'listPipelineJobs', { pipeline_id, scope: ['success'], page, per_page: at_once });
    const job = jobs.items.find((each) => each.name === name);
    if (job) return job.id;
    if (jobs.items.length < at_once) throw notFound();
  }
}

/** The addresses of files of the newest job of a name lead to that job; without a name to the pipelines. */
const newestFiles = redirect('/:id/-/jobs/artifacts/*ref_file', async (call) => {
  const [, ref, what, file = ''] = /^(.+?)\/(download|browse|raw|file)((?:\/.*)?)$/s.exec(call.params.ref_file!) ?? [];
  if (ref === undefined) throw notFound();
  const name = textIn(call.query, 'job');
  if (name === undefined) return `${pageBelow.project(call.params.id!, 'pipelines')}?${new URLSearchParams({ ref })}`;
  const job_id = await jobNamed(call, ref, name);
  return `${jobPage(call.params.id!, job_id)}/artifacts/${what}${inAddress(file)}`;
});

export const artifactPages = [
  newestFiles,
  page(`${files}/browse`, { load, view: folderView }),
  page(`${files}/browse/*folder`, { load, view: folderView }),
  filePage(`${files}/download`, ({ bytes }) => bytes('getJobArtifacts')),
  filePage(`${files}/raw/*artifact_path`, ({ bytes }) => bytes('getJobArtifactFile')),
  redirect(`${files}/file/*artifact_path`, ({ path }) => path.replace('/artifacts/file/', '/artifacts/raw/')),
  testsPage,
];
