/** Results of tests of a pipeline (docs/reference/job_artifacts.md#tests). */
import { buffer } from 'node:stream/consumers';
import type { Static } from 'typebox';
import type { Project } from '../../../access/index.ts';
import { mayUse } from '../../../access/index.ts';
import { type AnyEndpoint, get, Id, one, type Services } from '../../../http/index.ts';
import { casesOf, UnreadableReport } from '../../../test_reports/index.ts';
import { pipelineIn, pipelinesReader } from '../../code/pipelines/index.ts';
import { presentCase, presentCounts, presentTotal, TestReport, TestReportSummary, totalOf } from './present.ts';
import { type Suite, suitesOf } from './test_report_queries.ts';

const path = '/projects/:id/pipelines/:pipeline_id';
const single = { pipeline_id: Id };
const refusals = { 404: '404 Pipeline Not Found' };

/** The most tests in one reply, which are in memory together. */
const maximumListed = 100_000;
const tooManyText = `the pipeline has more than ${maximumListed} tests`;

/** @throws ApiError 404 */
async function suitesIn(db: Services['db'], project: Project, pipeline_id: number): Promise<Suite[]> {
  const { id } = await pipelineIn(db, project, pipeline_id);
  return mayUse(project, 'builds') ? suitesOf(db, project, id) : [];
}

type Shown = Static<typeof TestReport>['test_suites'][number];

/** A suite with its tests, or why they are not listed. */
async function shown({ blobs, url }: Pick<Services, 'blobs' | 'url'>, project: Project, each: Suite): Promise<Shown> {
  const { name, suite_error, job_id } = each;
  const tested = { url, full_path: project.full_path, job_id };
  const presented: Shown = { name, ...presentCounts(each), suite_error, test_cases: [] };
  const content = suite_error === null ? await blobs.read(each.blob_key) : undefined;
  if (!content) return presented;
  try {
    for await (const portion of casesOf(await buffer(content), project.id))
      for (const read of portion) presented.test_cases.push(presentCase(tested, read));
    return presented;
  } catch (error) {
    if (!(error instanceof UnreadableReport)) throw error;
    return { ...presented, suite_error: error.message };
  }
}

export const testReportRoutes: AnyEndpoint[] = [
  get(`${path}/test_report`, {
    operation: 'getPipelineTestReport',
    summary: 'Get the results of the tests of a pipeline',
    access: pipelinesReader,
    input: single,
    returns: one(TestReport),
    refusals,
    handle: async ({ db, blobs, url, project, input }) => {
      const suites = await suitesIn(db, project, input.pipeline_id);
      const test_suites: Shown[] = [];
      let left = maximumListed;
      for (const each of suites) {
        left -= presentCounts(each).total_count;
        test_suites.push(await shown({ blobs, url }, project, left < 0 ? { ...each, suite_error: tooManyText } : each));
      }
      return { ...presentCounts(totalOf(suites)), test_suites };
    },
  }),
  get(`${path}/test_report_summary`, {
    operation: 'getPipelineTestReportSummary',
    summary: 'Get how many tests of a pipeline ended how',
    access: pipelinesReader,
    input: single,
    returns: one(TestReportSummary),
    refusals,
    handle: async ({ db, project, input }) => {
      const suites = await suitesIn(db, project, input.pipeline_id);
      const test_suites = suites.map((each) => ({
        name: each.name,
        ...presentCounts(each),
        suite_error: each.suite_error,
        build_ids: [each.job_id],
      }));
      return { total: presentTotal(totalOf(suites)), test_suites };
    },
  }),
];
