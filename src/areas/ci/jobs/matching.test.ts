import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performJob } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { endOverdueJobs } from './jobs.ts';

test('a job fails when the runner that takes it cannot do what it needs', async () => {
  const here = await built(`
plain: {script: make}
codes: {script: make, allow_failure: {exit_codes: [7]}}
reports: {script: make, artifacts: {paths: [out], reports: {junit: out.xml}}}
raw: {script: make, artifacts: {reports: {sast: sast.json}}}
`);
  const { id } = await sent(here.as('maintainer').post(`${here.at}/pipeline`, { ref: 'main' }));
  const runner = await runnerOf(here);
  const { status, body } = await runner.request({ info: { features: { cancel_gracefully: true } } });
  assert.deepEqual([status, body.job_info?.name], [201, 'plain']);
  assert.equal((await runner.request({ info: {} })).status, 204);
  const jobs = Object.values(await here.jobsOf(id)) as { name: string; status: string; failure_reason?: string }[];
  assert.deepEqual(jobs.map(({ name, status: state, failure_reason }) => [name, state, failure_reason]).toSorted(), [
    ['codes', 'failed', 'runner_unsupported'],
    ['plain', 'running', undefined],
    ['raw', 'failed', 'runner_unsupported'],
    ['reports', 'failed', 'runner_unsupported'],
  ]);
});

test('a job with tags that no runner of its project has fails after an hour, and others wait for a day', async () => {
  const here = await built(`
plain: {script: make}
known: {script: make, tags: [linux]}
unknown: {script: make, tags: [linux, moon]}
`);
  const { as, at, db, services } = here;
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  await runnerOf(here, { tag_list: 'linux', paused: true });
  const age = (hours: number) =>
    db
      .updateTable('commit_statuses')
      .set({ queued_at: new Date(Date.now() - hours * 3_600_000 - 60_000).toISOString() })
      .where('pipeline_id', '=', id)
      .execute();
  const endOverdue = () => performJob(services, endOverdueJobs, {});
  await age(0);
  await endOverdue();
  assert.deepEqual(await here.statesOf(id), { plain: 'pending', known: 'pending', unknown: 'pending' });
  await age(1);
  await endOverdue();
  const { unknown, ...others } = await here.jobsOf(id);
  assert.equal((unknown as { failure_reason?: string }).failure_reason, 'no_matching_runner');
  assert.deepEqual([others.plain!.status, others.known!.status], ['pending', 'pending']);
  await age(24);
  await endOverdue();
  const { known } = await here.jobsOf(id);
  assert.equal((known as { failure_reason?: string }).failure_reason, 'stuck_or_timeout_failure');
});
