/** Files of jobs, and results of tests (docs/reference/job_artifacts.md#pages). */
import { filePage, type PageCall, page, pagingOf, redirect } from '../../../pages/index.ts';
import { ArtifactEntry, TestReport } from '../../ci/artifacts/index.ts';
import { Job } from '../../code/jobs/index.ts';
import { PipelineDetail } from '../../code/pipelines/index.ts';
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

export const artifactPages = [
  page(`${files}/browse`, { load, view: folderView }),
  page(`${files}/browse/*folder`, { load, view: folderView }),
  filePage(`${files}/download`, ({ bytes }) => bytes('getJobArtifacts')),
  filePage(`${files}/raw/*artifact_path`, ({ bytes }) => bytes('getJobArtifactFile')),
  redirect(`${files}/file/*artifact_path`, ({ path }) => path.replace('/artifacts/file/', '/artifacts/raw/')),
  testsPage,
];
