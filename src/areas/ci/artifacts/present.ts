/** How files of jobs, and results of tests, appear in replies (docs/reference/job_artifacts.md). */
import path from 'node:path';
import { type Static, Type } from 'typebox';
import { pagePath } from '../../../foundation/addresses.ts';
import { Address, Id, nullable, resource } from '../../../http/index.ts';
import { outcomes, type TestCase as ReadCase, type Summary } from '../../../test_reports/index.ts';

export const ArtifactEntry = resource('ArtifactEntry', {
  name: Type.String(),
  path: Type.String(),
  type: Type.Enum(['file', 'directory', 'link']),
  size: nullable(Type.Integer({ description: 'In bytes; null for folders' })),
  mode: Type.String({ description: 'Six digits' }),
});

const counts = {
  total_time: Type.Number({ description: 'Seconds' }),
  total_count: Type.Integer(),
  success_count: Type.Integer(),
  failed_count: Type.Integer(),
  skipped_count: Type.Integer(),
  error_count: Type.Integer(),
};
const suite = {
  name: Type.String({ description: 'Of the job' }),
  ...counts,
  suite_error: nullable(Type.String({ description: 'Why the tests are not listed' })),
};

const TestCase = resource('TestCase', {
  status: Type.Enum(outcomes),
  name: Type.String(),
  classname: nullable(Type.String()),
  file: nullable(Type.String()),
  execution_time: Type.Number({ description: 'Seconds' }),
  system_output: nullable(Type.String({ description: 'What the test said of its end' })),
  stack_trace: Type.Null(),
  recent_failures: Type.Null(),
  attachment_url: nullable(Address({ description: 'Of the file in the archive of the job that the test names' })),
});

export const TestReport = resource('TestReport', {
  ...counts,
  test_suites: Type.Array(Type.Object({ ...suite, test_cases: Type.Array(TestCase) })),
});

export const TestReportSummary = resource('TestReportSummary', {
  total: Type.Object({
    time: Type.Number({ description: 'Seconds' }),
    count: Type.Integer(),
    success: Type.Integer(),
    failed: Type.Integer(),
    skipped: Type.Integer(),
    error: Type.Integer(),
    suite_error: Type.Null(),
  }),
  test_suites: Type.Array(Type.Object({ ...suite, build_ids: Type.Array(Id) })),
});

const countOf = ({ success, failed, skipped, error }: Summary): number => success + failed + skipped + error;

export const presentCounts = (summary: Summary) => ({
  total_time: summary.total_time,
  total_count: countOf(summary),
  success_count: summary.success,
  failed_count: summary.failed,
  skipped_count: summary.skipped,
  error_count: summary.error,
});

export const presentTotal = (summary: Summary): Static<typeof TestReportSummary>['total'] => {
  const { total_time: time, success, failed, skipped, error } = summary;
  return { time, count: countOf(summary), success, failed, skipped, error, suite_error: null };
};

/** The sums of some suites. */
export function totalOf(suites: readonly Summary[]): Summary {
  const total: Summary = { total_time: 0, success: 0, failed: 0, skipped: 0, error: 0 };
  for (const name of Object.keys(total) as (keyof Summary)[])
    total[name] = suites.reduce((sum, each) => sum + each[name], 0);
  return total;
}

const attachmentPage = pagePath('/:project/-/jobs/:job_id/artifacts/raw/:file');

/** The address of a file that a test names; null for a path that leads out of the archive. */
function attachmentUrl({ url, full_path, job_id }: TestedBy, attachment: string | null): string | null {
  const file = attachment === null ? '' : path.posix.normalize(attachment);
  return file === '' || /^\/|^\.\.?(?:\/|$)/.test(file) ? null : url + attachmentPage(full_path, job_id, file);
}

/** The job that has run tests, and where the server is. */
export interface TestedBy {
  url: string;
  /** Of the project. */
  full_path: string;
  job_id: number;
}

export const presentCase = (tested: TestedBy, { attachment, ...read }: ReadCase): Static<typeof TestCase> => ({
  ...read,
  stack_trace: null,
  recent_failures: null,
  attachment_url: attachmentUrl(tested, attachment),
});
