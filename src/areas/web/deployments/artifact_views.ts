/** Views of files of jobs, and of results of tests. */
import type { Static } from 'typebox';
import { jobPage } from '../../../access/index.ts';
import { pagePath } from '../../../foundation/addresses.ts';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  type Content,
  type Html,
  html,
  icon,
  pager,
  rows,
  type Seen,
  state,
  time,
  type View,
} from '../../../pages/index.ts';
import { counted, sizeText } from '../../../texts/index.ts';
import type { ArtifactEntry, TestReport, TestReportSummary } from '../../ci/artifacts/index.ts';
import type { Job } from '../../code/jobs/index.ts';
import { type PipelineDetail, pipelinePage } from '../../code/pipelines/index.ts';

const topPage = pagePath('/:project/-/jobs/:job_id/artifacts/browse');
const folderPage = pagePath('/:project/-/jobs/:job_id/artifacts/browse/:folder');
const rawPage = pagePath('/:project/-/jobs/:job_id/artifacts/raw/:artifact_path');
const downloadPage = pagePath('/:project/-/jobs/:job_id/artifacts/download');
const testsPage = pagePath('/:project/-/pipelines/:pipeline_id/test_report');

type ShownJob = Static<typeof Job>;

/** Links to the archive of a job, if there is one. */
export const archiveLinks = (id: string, { id: job_id, artifacts_file }: ShownJob): Content =>
  artifacts_file &&
  html`<a href="${downloadPage(id, job_id)}" rel="nofollow">${artifacts_file.filename}</a>, ${sizeText(artifacts_file.size)}, <a href="${topPage(id, job_id)}" rel="nofollow">browse</a>`;

/** The reports of a job, by their types. */
export const reportNames = ({ artifacts }: ShownJob): Content => {
  const names = artifacts.flatMap(({ file_type }) => (file_type === 'archive' ? [] : [file_type]));
  return names.length > 0 && names.join(', ');
};

/** The folders on the way to one, each a link. */
function trail(id: string, job_id: number, folder: string): Html {
  const names = folder === '' ? [] : folder.split('/');
  const steps = names.map((name, index) => {
    const path = names.slice(0, index + 1).join('/');
    return html`<li>${index === names.length - 1 ? html`<span aria-current="page">${name}</span>` : html`<a href="${folderPage(id, job_id, path)}">${name}</a>`}</li>`;
  });
  return html`<nav class="trail path" aria-label="Path in the archive"><ol><li><a href="${topPage(id, job_id)}">Archive</a></li>${steps}</ol></nav>`;
}

function entryRow(id: string, job_id: number, { name, path, type, size }: Static<typeof ArtifactEntry>): Html {
  if (type === 'directory')
    return html`${icon('folder')} <a href="${folderPage(id, job_id, path)}" rel="nofollow">${name}</a>`;
  if (type === 'link') return html`${icon('file')} ${name} <span class="soft">symbolic link</span>`;
  return html`${icon('file')} <a href="${rawPage(id, job_id, path)}" rel="nofollow">${name}</a> <span class="soft">${sizeText(size ?? 0)}</span>`;
}

export function folderView(
  shown: { id: string; job: ShownJob; folder: string; entries: ListPage<Static<typeof ArtifactEntry>> },
  seen: Seen,
): View {
  const { id, job, folder, entries } = shown;
  return {
    title: [folder === '' ? 'Files' : folder, job.name, 'Jobs', id],
    heading: html`Files of <a href="${jobPage(id, job.id)}">${job.name}</a>`,
    place: { id, kind: 'project', tab: 'jobs' },
    main: html`<div class="actions"><a class="button" href="${downloadPage(id, job.id)}" rel="nofollow">Download the archive</a></div>
${job.artifacts_expire_at !== null && html`<p class="soft">Expires ${time(job.artifacts_expire_at)}</p>`}${trail(id, job.id, folder)}${rows(
  entries.items.map((entry) => entryRow(id, job.id, entry)),
  'The folder is empty.',
)}
${pager(entries, seen)}`,
  };
}

type Counts = Pick<
  Static<typeof TestReport>['test_suites'][number],
  'total_count' | 'failed_count' | 'error_count' | 'skipped_count' | 'total_time'
>;

const countsText = ({ total_count, failed_count, error_count, skipped_count }: Counts): string =>
  [
    counted(total_count, 'test'),
    ...(failed_count > 0 ? [`${failed_count} failed`] : []),
    ...(error_count > 0 ? [`${error_count} broken`] : []),
    ...(skipped_count > 0 ? [`${skipped_count} skipped`] : []),
  ].join(', ');

/** How many tests of a pipeline ended how, with a link to them; nothing if no job has reported any. */
export const testsLink = (
  id: string,
  pipeline_id: number,
  { total, test_suites }: Static<typeof TestReportSummary>,
): Content => {
  const { count: total_count, failed: failed_count, error: error_count, skipped: skipped_count } = total;
  const counts = { total_count, failed_count, error_count, skipped_count, total_time: total.time };
  return (
    test_suites.length > 0 && html`<a href="${testsPage(id, pipeline_id)}" rel="nofollow">${countsText(counts)}</a>`
  );
};

type Suite = Static<typeof TestReport>['test_suites'][number];
type Case = Suite['test_cases'][number];

/** The most tests of a suite that are shown. */
const maximumShown = 100;

const caseRow = ({ status, name, classname, file, system_output, attachment_url }: Case): Html =>
  html`${state(status === 'error' ? 'failed' : status)} <strong>${name}</strong> <span class="soft">${classname}${file !== null && html` in ${file}`}</span>${
    attachment_url !== null && html` <a href="${attachment_url}" rel="nofollow">Attachment</a>`
  }${system_output !== null && html`<pre>${system_output}</pre>`}`;

function suiteView(suite: Suite): Html {
  const bad = suite.test_cases.filter(({ status }) => status === 'failed' || status === 'error');
  const seconds = counted(Math.round(suite.total_time), 'second');
  return html`<h2>${suite.name}</h2>
<p>${countsText(suite)}, ${seconds}</p>
${suite.suite_error !== null && html`<p class="refusal">${suite.suite_error}</p>`}${
  bad.length > 0 && rows(bad.slice(0, maximumShown).map(caseRow), '')
}${bad.length > maximumShown && html`<p class="soft">And ${bad.length - maximumShown} more.</p>`}`;
}

export function testsView({
  id,
  pipeline,
  report,
}: {
  id: string;
  pipeline: Static<typeof PipelineDetail>;
  report: Static<typeof TestReport>;
}): View {
  return {
    title: ['Tests', `Pipeline #${pipeline.iid}`, 'Pipelines', id],
    heading: html`Tests of <a href="${pipelinePage(id, pipeline.id)}">pipeline #${pipeline.iid}</a>`,
    place: { id, kind: 'project', tab: 'pipelines' },
    main: html`${report.test_suites.map(suiteView)}${report.test_suites.length === 0 && html`<p>No job has reported tests.</p>`}`,
  };
}
