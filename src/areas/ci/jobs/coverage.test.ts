import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { measureCoverage } from './index.ts';

test('the coverage of a job is the last number of the last match in its log', async () => {
  const here = await built(`
stages: [test]
one: {script: make, coverage: '/Total.*?\\d+(?:\\.\\d+)?%/'}
two: {script: make, coverage: '/(?i)covered: \\d+/'}
none: {script: make, coverage: '/Nowhere \\d+/'}
`);
  const { as, at, services } = here;
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const runner = await runnerOf(here);
  const logs: Record<string, string> = {
    one: 'Total 10%\nTotal 3 of 4: 75.5% and Total 80.25%\nTotals\n',
    two: `${'x\n'.repeat(6_000)}COVERED: 60\n`,
    none: 'Total 10%\n',
  };
  for (let job = await runner.take(); job; job = await runner.take()) {
    await job.append(logs[job.job.job_info.name]!);
    await job.end(job.job.job_info.name === 'two' ? 'failed' : 'success');
  }
  await performQueued(services, [measureCoverage]);
  const { body } = await as('developer').get(`${at}/pipelines/${id}/jobs`);
  assert.deepEqual(
    Object.fromEntries(
      (body as { name: string; coverage: number | null }[]).map(({ name, coverage }) => [name, coverage]),
    ),
    { one: 80.25, two: 60, none: null },
  );
  assert.equal((await sent(as('developer').get(`${at}/pipelines/${id}`))).coverage, '70.13');
});
