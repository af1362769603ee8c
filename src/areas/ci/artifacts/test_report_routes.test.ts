import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipped, held, report, sendFile } from '../../../../test/support/artifacts.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { sent } from '../../../../test/support/sent.ts';

const configuration = `
unit: {script: make, artifacts: {reports: {junit: report.xml}}}
inner: {script: make, artifacts: {access: developer, reports: {junit: report.xml}}}
`;

const xml = `<testsuite>
  <testcase name="ripens" classname="Apple" time="1.5"/>
  <testcase name="falls" classname="Apple" file="apple.rb" time="0.5">
    <failure message="it hangs"/><system-out>[[ATTACHMENT|shots/a b.png]]</system-out>
  </testcase>
</testsuite>`;

async function tested(of: Record<string, Uint8Array<ArrayBuffer>>) {
  const here = await built(configuration);
  const { id } = (await sent(here.as('maintainer').post(`${here.at}/pipeline`, { ref: 'main' }))) as { id: number };
  const jobs = (await here.jobsOf(id)) as Record<string, { id: number }>;
  for (const [name, bytes] of Object.entries(of)) {
    const job = { id: jobs[name]!.id, token: await held(here.db, jobs[name]!.id) };
    assert.equal((await sendFile(here, job, bytes, report('junit'))).status, 201);
  }
  const read = async (what: string, persona: Parameters<typeof here.as>[0] = 'developer') =>
    (await here.as(persona).get(`${here.at}/pipelines/${id}/${what}`)).body;
  return { ...here, id, jobs, read };
}

const noTests = { total_time: 0, total_count: 0, success_count: 0, failed_count: 0, skipped_count: 0, error_count: 0 };

test('the tests of a pipeline are listed by job, with their sums', async () => {
  const { read, jobs, project, services } = await tested({ unit: gzipped(xml) });
  const { url } = services;
  const counts = { ...noTests, total_time: 2, total_count: 2, success_count: 1, failed_count: 1 };
  const common = { stack_trace: null, recent_failures: null, classname: 'Apple' };
  assert.deepEqual(await read('test_report'), {
    ...counts,
    test_suites: [
      {
        ...{ name: 'unit', ...counts, suite_error: null },
        test_cases: [
          {
            ...{ ...common, status: 'success', name: 'ripens', file: null, execution_time: 1.5 },
            ...{ system_output: null, attachment_url: null },
          },
          {
            ...{ ...common, status: 'failed', name: 'falls', file: 'apple.rb', execution_time: 0.5 },
            system_output: 'it hangs',
            attachment_url: `${url}/${project.full_path}/-/jobs/${jobs.unit!.id}/artifacts/raw/shots/a%20b.png`,
          },
        ],
      },
    ],
  });
  assert.deepEqual(await read('test_report_summary'), {
    total: { time: 2, count: 2, success: 1, failed: 1, skipped: 0, error: 0, suite_error: null },
    test_suites: [{ name: 'unit', ...counts, suite_error: null, build_ids: [jobs.unit!.id] }],
  });
});

test('a report that cannot be read is stored, and says why', async () => {
  const { read, jobs } = await tested({ unit: gzipped('<!DOCTYPE a><a/>') });
  const suite_error = 'JUnit XML parsing failed: a document type is not allowed';
  assert.deepEqual(await read('test_report'), {
    ...noTests,
    test_suites: [{ name: 'unit', ...noTests, suite_error, test_cases: [] }],
  });
  const { test_suites } = await read('test_report_summary');
  assert.deepEqual(test_suites, [{ name: 'unit', ...noTests, suite_error, build_ids: [jobs.unit!.id] }]);
});

test('reports are for those who may read the files of the job, and gone with them', async () => {
  const { read, as, at, jobs } = await tested({ unit: gzipped(xml), inner: gzipped(xml) });
  const namesFor = async (persona: Parameters<typeof as>[0]) =>
    ((await read('test_report', persona)).test_suites as { name: string }[]).map(({ name }) => name);
  assert.deepEqual([await namesFor('guest'), await namesFor('developer')], [['unit'], ['unit', 'inner']]);
  await sent(as('maintainer').delete(`${at}/jobs/${jobs.unit!.id}/artifacts`));
  assert.deepEqual([await namesFor('guest'), await namesFor('developer')], [[], ['inner']]);
  await sent(as('owner').put(at, { builds_access_level: 'disabled' }));
  assert.equal((await as('developer').get(`${at}/pipelines/${jobs.unit!.id}/test_report`)).status, 404);
});
