import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipped, report, sendFile } from '../../../../test/support/artifacts.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { takeReports } from './index.ts';

const injection = {
  ...{ name: 'SQL injection', description: 'A query is built of texts', severity: 'Critical' },
  location: { file: 'app.rb', start_line: 3 },
  identifiers: [{ type: 'cwe', name: 'CWE-89', value: '89' }],
};

const outdated = {
  ...{ name: 'Overflow', severity: 'Medium', solution: 'Upgrade to 1.0.1' },
  location: { file: 'package-lock.json', dependency: { package: { name: 'pear' }, version: '1.0.0' } },
  identifiers: [{ type: 'cve', name: 'CVE-2026-1', value: 'CVE-2026-1' }],
};

async function scanned() {
  const here = await built('scan: {script: make, artifacts: {reports: {sast: a.json, dependency_scanning: b.json}}}\n');
  const { as, at, services } = here;
  const runner = await runnerOf(here);
  /** @param reports contents by their types */
  const run = async (reports: Record<string, object>, ref = 'main') => {
    await sent(as('maintainer').post(`${at}/pipeline`, { ref }));
    const job = (await runner.take())!;
    for (const [type, content] of Object.entries(reports)) {
      const sending = { ...report(type), name: `gl-${type}-report.json.gz` };
      assert.equal((await sendFile(here, job, gzipped(JSON.stringify(content)), sending)).status, 201);
    }
    await job.end('success');
    await performQueued(services, [takeReports]);
    return job.id;
  };
  const listed = async (query: object = {}) => {
    const { body } = await as('developer').get(`${at}/vulnerabilities`, { ...query });
    return (body as { name: string; report_type: string; state: string; severity: string }[]).map(
      ({ name, report_type, state, severity }) => `${name} ${report_type} ${state} ${severity}`,
    );
  };
  return { ...here, run, listed };
}

test('what scanners find in the newest pipeline of the default branch is a vulnerability until it is found no more', async () => {
  const { as, at, run, listed } = await scanned();
  const sast = { version: '15', vulnerabilities: [injection] };
  const job_id = await run({ sast });
  assert.deepEqual(await listed(), ['SQL injection sast detected critical']);
  assert.deepEqual(await listed({ report_type: 'dast,dependency_scanning' }), []);
  assert.deepEqual(await listed({ report_type: 'sast' }), ['SQL injection sast detected critical']);
  const [{ id }] = (await as('developer').get(`${at}/vulnerabilities`)).body;
  const { findings, advisories } = await sent(as('developer').get(`${at}/vulnerabilities/${id}`));
  assert.deepEqual(
    [findings[0].job_id, findings[0].location, findings[0].identifiers[0].name, findings[0].package, advisories],
    [job_id, { file: 'app.rb', start_line: 3 }, 'CWE-89', null, []],
  );
  await sent(as('maintainer').put(`${at}/vulnerabilities/${id}`, { state: 'dismissed' }));
  await run({ sast });
  assert.deepEqual(await listed(), ['SQL injection sast dismissed critical']);
  await sent(as('maintainer').put(`${at}/vulnerabilities/${id}`, { state: 'detected' }));
  await run({});
  assert.deepEqual(await listed(), ['SQL injection sast resolved critical']);
  const last = await run({ sast });
  assert.deepEqual(await listed(), ['SQL injection sast detected critical']);
  await sent(as('maintainer').post(`${at}/jobs/${last}/erase`));
  assert.deepEqual(await listed({ present: true }), []);
});

test('a report of dependencies lists them with what is wrong with them', async () => {
  const { as, at, run, listed } = await scanned();
  const dependency_files = [
    {
      ...{ path: 'package-lock.json', package_manager: 'npm' },
      dependencies: ['pear', 'plum'].map((name) => ({ package: { name }, version: '1.0.0' })),
    },
  ];
  await run({ dependency_scanning: { version: '15', vulnerabilities: [outdated], dependency_files } });
  assert.deepEqual(await listed(), ['CVE-2026-1 dependency_scanning detected medium']);
  const { body } = await as('developer').get(`${at}/dependencies`);
  assert.deepEqual(
    (body as { name: string; vulnerabilities: { name: string }[]; dependency_file_path: string }[]).map(
      ({ name, vulnerabilities, dependency_file_path }) => [
        name,
        vulnerabilities.map((each) => each.name),
        dependency_file_path,
      ],
    ),
    [
      ['pear', ['CVE-2026-1'], 'package-lock.json'],
      ['plum', [], 'package-lock.json'],
    ],
  );
  await run({});
  assert.deepEqual((await as('developer').get(`${at}/dependencies`)).body, []);
});

test('reports of other branches, and reports of another shape, name nothing', async () => {
  const { as, at, run, listed } = await scanned();
  await sent(as('owner').post(`${at}/repository/branches`, { branch: 'other', ref: 'main' }));
  await run({ sast: { vulnerabilities: [injection] } }, 'other');
  await run({ sast: { vulnerabilities: 'none' }, dependency_scanning: [1] });
  assert.deepEqual(await listed(), []);
});
