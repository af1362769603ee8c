import assert from 'node:assert/strict';
import { test } from 'node:test';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';

const started = async (text?: string) => {
  const here = await built(text);
  const { id } = await sent(here.as('maintainer').post(`${here.at}/pipeline`, { ref: 'main' }));
  return { ...here, pipeline_id: id as number };
};

/** The variables of a job by key. */
const variablesIn = ({ job }: { job: { variables: { key: string; value: string; masked: boolean }[] } }) =>
  Object.fromEntries(job.variables.map((variable) => [variable.key, variable]));

test('a runner executes the jobs of a pipeline one after the other', async () => {
  const here = await started(`
stages: [build, test]
build: {stage: build, script: [make], before_script: [prepare], after_script: [clean], variables: {DEPTH: '3'}}
test: {stage: test, script: make test}
`);
  const { as, at, pipeline_id, statesOf, jobsOf, sha, project, people } = here;
  const runner = await runnerOf(here);
  const build = (await runner.take())!;
  assert.deepEqual(build.job.job_info.name, 'build');
  assert.deepEqual(
    build.job.steps.map(({ name, script }: { name: string; script: string[] }) => [name, script]),
    [
      ['script', ['prepare', 'make']],
      ['after_script', ['clean']],
    ],
  );
  const { git_info } = build.job;
  assert.deepEqual([git_info.sha, git_info.ref, git_info.ref_type, git_info.depth], [sha, 'main', 'branch', 20]);
  assert.equal(git_info.repo_url, `http://gitlab-ci-token:${build.token}@coppice.test/${project.full_path}.git`);
  const variables = variablesIn(build);
  assert.deepEqual(
    [
      variables.DEPTH!.value,
      variables.CI_JOB_ID!.value,
      variables.CI_PIPELINE_ID!.value,
      variables.GITLAB_USER_LOGIN!.value,
    ],
    ['3', String(build.id), String(pipeline_id), people.maintainer.username],
  );
  assert.deepEqual([variables.CI_JOB_TOKEN!.value, variables.CI_JOB_TOKEN!.masked], [build.token, true]);
  assert.equal(await runner.take(), undefined);
  assert.equal((await statesOf(pipeline_id)).build, 'running');

  assert.equal((await build.report('running')).status, 200);
  const first = await build.append('compiling\n');
  assert.deepEqual(
    [first.status, first.headers.get('range'), first.headers.get('job-status')],
    [202, '0-10', 'running'],
  );
  assert.equal((await build.append('done\n')).headers.get('range'), '0-15');
  const ended = await build.end('success');
  assert.deepEqual([ended.status, ended.body], [200, '200']);
  assert.deepEqual(await statesOf(pipeline_id), { build: 'success', test: 'pending' });
  const log = await as('developer').get(`${at}/jobs/${build.id}/trace`);
  assert.deepEqual([log.status, log.body], [200, 'compiling\ndone\n']);

  const next = (await runner.take())!;
  assert.equal((await next.end('failed', { failure_reason: 'script_failure', exit_code: 2 })).status, 200);
  const jobs = await jobsOf(pipeline_id);
  assert.deepEqual(
    [jobs.test!.status, (jobs.test as { failure_reason?: string }).failure_reason],
    ['failed', 'script_failure'],
  );
  assert.equal((await as('developer').get(`${at}/pipelines/${pipeline_id}`)).body.status, 'failed');
});

test('what a runner says of a job is refused when it does not hold it', async () => {
  const here = await started('build: {script: make}');
  const runner = await runnerOf(here);
  const build = (await runner.take())!;
  const wrong = await runner.call('PUT', `/jobs/${build.id}`, { body: { token: 'glcbt-wrong', state: 'success' } });
  assert.deepEqual([wrong.status, wrong.body.message], [403, '403 Forbidden - Job is not running']);
  const unknown = await build.report('finished');
  assert.equal(unknown.status, 400);
  const headless = await runner.call('PATCH', `/jobs/${build.id}/trace`, { headers: build.authorized, body: 'x' });
  assert.deepEqual([headless.status, headless.body.message], [400, '400 Missing header Content-Range']);
  await build.append('0123456789');
  const gap = await build.append('later', 20);
  assert.deepEqual([gap.status, gap.headers.get('range')], [416, '0-10']);
  const twice = await build.append('0123456789', 0);
  assert.deepEqual([twice.status, twice.headers.get('range')], [416, '0-10']);
  assert.equal((await build.end('success')).status, 200);
  assert.equal((await build.end('success')).status, 200);
  const late = await build.end('failed');
  assert.deepEqual([late.status, late.headers.get('job-status')], [403, 'success']);
  assert.equal((await build.append('more')).status, 403);
});

test('a log that differs from that of the runner is sent once more', async () => {
  const here = await started('build: {script: make}');
  const { as, at } = here;
  const runner = await runnerOf(here);
  const build = (await runner.take())!;
  await build.append('wrong\n');
  const other = { checksum: 'crc32:00000001', bytesize: 6 };
  assert.equal((await build.report('success', { output: other })).status, 412);
  assert.equal((await build.append('right\n', 0)).status, 202);
  assert.equal((await build.end('success')).status, 200);
  assert.equal((await as('developer').get(`${at}/jobs/${build.id}/trace`)).body, 'right\n');
});

test('a masked value is in no log, wherever it is cut', async () => {
  const here = await built('build: {script: make}');
  const { as, at } = here;
  await sent(as('maintainer').post(`${at}/variables`, { key: 'PASSWORD', value: 'swordfish12', masked: true }));
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const runner = await runnerOf(here);
  const build = (await runner.take())!;
  assert.deepEqual(variablesIn(build).PASSWORD, {
    ...{ key: 'PASSWORD', value: 'swordfish12', masked: true, public: false, file: false, raw: false },
  });
  const cut = await build.append('the password is sword');
  assert.equal(cut.headers.get('range'), '0-21');
  await build.append('fish12\nand sword');
  assert.equal((await build.end('success')).status, 200);
  assert.equal((await as('developer').get(`${at}/jobs/${build.id}/trace`)).body, 'the password is [MASKED]\nand sword');
});

test('a job is tried again as its configuration says, and its failure may be allowed by exit codes', async () => {
  const here = await started(`
flaky: {script: make, retry: {max: 1, when: runner_system_failure}}
lint: {script: make lint, allow_failure: {exit_codes: [7]}}
`);
  const { as, at, pipeline_id, jobsOf } = here;
  const runner = await runnerOf(here);
  const flaky = (await runner.take())!;
  const lint = (await runner.take())!;
  await lint.end('failed', { exit_code: 7 });
  await flaky.end('failed', { failure_reason: 'runner_system_failure' });
  const again = (await runner.take())!;
  assert.equal(again.job.job_info.name, 'flaky');
  assert.notEqual(again.id, flaky.id);
  await again.end('failed', { failure_reason: 'runner_system_failure' });
  assert.equal(await runner.take(), undefined);
  const jobs = await jobsOf(pipeline_id);
  assert.deepEqual([jobs.flaky!.status, jobs.lint!.status], ['failed', 'failed']);
  assert.equal((await as('developer').get(`${at}/jobs/${lint.id}`)).body.allow_failure, true);
  assert.equal((await as('developer').get(`${at}/pipelines/${pipeline_id}`)).body.status, 'failed');
});

test('a cancelled job ends when its runner has run what is to be run afterwards', async () => {
  const here = await started('build: {script: make}');
  const { as, at, pipeline_id } = here;
  const runner = await runnerOf(here);
  const build = (await runner.take())!;
  await build.report('running');
  const canceled = await as('maintainer').post(`${at}/jobs/${build.id}/cancel`);
  assert.deepEqual([canceled.status, canceled.body.status], [201, 'canceling']);
  const told = await build.append('cleaning\n');
  assert.deepEqual([told.status, told.headers.get('job-status')], [202, 'canceling']);
  assert.equal((await as('developer').get(`${at}/pipelines/${pipeline_id}`)).body.status, 'canceling');
  assert.equal((await build.end('failed')).headers.get('job-status'), 'canceled');
  assert.equal((await as('developer').get(`${at}/pipelines/${pipeline_id}`)).body.status, 'canceled');
});

test('runners get only jobs whose tags they have, and those without tags if they take them', async () => {
  const here = await started('plain: {script: make}\ntagged: {script: make, tags: [linux]}');
  const tagged = await runnerOf(here, { tag_list: 'linux,arm', run_untagged: false });
  assert.equal((await tagged.take())!.job.job_info.name, 'tagged');
  assert.equal(await tagged.take(), undefined);
  const plain = await runnerOf(here);
  assert.equal((await plain.take())!.job.job_info.name, 'plain');
  const paused = await runnerOf(here, { paused: true });
  assert.equal((await paused.request()).status, 204);
  assert.equal((await plain.call('POST', '/jobs/request', { body: { token: 'wrong' } })).status, 403);
});

test('each job is given to one of the runners that ask at once', async () => {
  const names = Array.from({ length: 20 }, (_, index) => `job${index}: {script: make}`);
  const here = await started(names.join('\n'));
  const runners = await Promise.all(Array.from({ length: 4 }, () => runnerOf(here)));
  const taken = await Promise.all(Array.from({ length: 24 }, (_, index) => runners[index % 4]!.take()));
  const ids = taken.flatMap((job) => job?.id ?? []);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(ids.length, 20);
});
