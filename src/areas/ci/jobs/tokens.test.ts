import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { performJob, performQueued } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { zipOf } from '../../../../test/support/zip.ts';
import { repositoryOf, resolveCommit } from '../../../git/index.ts';
import { processAgain } from '../running/index.ts';
import { endOverdueJobs, removePipelineRefs } from './index.ts';

/** A world with a job that a runner has taken. */
async function taken() {
  const here = await built('build: {script: make}');
  const { id: pipeline_id } = await sent(here.as('maintainer').post(`${here.at}/pipeline`, { ref: 'main' }));
  const runner = await runnerOf(here);
  return { ...here, pipeline_id: pipeline_id as number, runner, build: (await runner.take())! };
}

test('a job token acts for the user of the job until it ends', async () => {
  const { as, at, runner, build, pipeline_id } = await taken();
  const asJob = (method: string, where: string, body?: object) =>
    runner.call(method, where, { headers: build.authorized, ...(body && { body }) });
  const own = await asJob('GET', '/job');
  assert.deepEqual([own.status, own.body.id, own.body.status], [200, build.id, 'running']);
  assert.equal((await asJob('GET', `${at}/pipelines/${pipeline_id}`)).status, 200);
  assert.equal((await asJob('POST', `${at}/environments`, { name: 'review' })).status, 201);
  for (const where of ['/user', at, `${at}/pipelines`, `${at}/variables`]) {
    const refused = await asJob('GET', where);
    assert.deepEqual([refused.status, refused.body.message], [403, '403 Forbidden'], where);
  }
  const { status, body } = await as('maintainer').get('/job');
  assert.deepEqual([status, body.message], [404, '404 Job Not Found']);
  await build.end('success');
  assert.equal((await asJob('GET', '/job')).status, 401);
});

test('a job clones its project with the commit of its pipeline, which is kept until the pipeline has ended', async () => {
  const here = await taken();
  const { build, url, sha, project, commit, pipeline_id } = here;
  // The branch has moved on.
  await commit('build: {script: make all}', 'Later', 'other');
  const { run } = await gitClient();
  const address = `${url.replace('://', `://gitlab-ci-token:${build.token}@`)}/${project.full_path}.git`;
  await run(['init', '-q']);
  const fetched = await run(['fetch', '-q', '--depth', '20', address, ...build.job.git_info.refspecs]);
  assert.deepEqual([fetched.code, fetched.stderr], [0, '']);
  assert.match((await run(['show', `${sha}:.gitlab-ci.yml`])).stdout, /script: make/);
  const refs = await run(['for-each-ref', '--format=%(refname)']);
  assert.match(refs.stdout, new RegExp(`refs/pipelines/${pipeline_id}`));
  const { db, services } = here;
  await build.end('success');
  const ended = { finished_at: '2020-01-01' };
  await db.updateTable('pipelines').set(ended).where('id', '=', pipeline_id).execute();
  await performJob(services, removePipelineRefs, {});
  const bare = repositoryOf(services, { ...project, storage: 'default' });
  assert.equal(await resolveCommit(bare, `refs/pipelines/${pipeline_id}`), undefined);
});

test('a job pushes nothing', async () => {
  const { build, url, sha, project } = await taken();
  const { run } = await gitClient();
  const address = `${url.replace('://', `://gitlab-ci-token:${build.token}@`)}/${project.full_path}.git`;
  await run(['init', '-q']);
  await run(['fetch', '-q', address, 'main']);
  const pushed = await run(['push', '-q', address, `${sha}:refs/heads/mine`]);
  assert.notEqual(pushed.code, 0);
  assert.match(pushed.stderr, /not allowed to upload code/);
});

test('a job token fetches no snippets of its user and no wikis', async () => {
  const { as, url, project, group, build } = await taken();
  const files = [{ file_path: 'a.txt', content: 'private' }];
  const snippet = { title: 'Mine', visibility: 'private', files };
  const { id } = await sent(as('maintainer').post('/snippets', snippet));
  const page = { title: 'home', content: 'x' };
  await sent(as('owner').post(`/projects/${project.id}/wikis`, page));
  await sent(as('owner').post(`/groups/${group.id}/wikis`, page));
  const { run } = await gitClient();
  const base = url.replace('://', `://gitlab-ci-token:${build.token}@`);
  for (const place of [`snippets/${id}`, `${project.full_path}.wiki`, `${group.full_path}.wiki`]) {
    const { code, stderr } = await run(['ls-remote', `${base}/${place}.git`]);
    assert.notEqual(code, 0, place);
    assert.match(stderr, /The authentication mechanism is not supported/, place);
  }
});

test('others see no refs of pipelines', async () => {
  const { url, project, people } = await taken();
  const { run } = await gitClient();
  const listed = await run(['ls-remote', remoteOf(url, project.full_path, people.owner.token)]);
  assert.match(listed.stdout, /refs\/heads\/main/);
  assert.doesNotMatch(listed.stdout, /refs\/pipelines/);
});

test('a job whose runner did not get the answer waits again, and fails the second time', async () => {
  const { as, at, db, services, runner, build, pipeline_id, jobsOf } = await taken();
  const lose = async () => {
    await db.updateTable('job_runs').set({ handed_out_at: '2020-01-01' }).where('job_id', '=', build.id).execute();
    await performJob(services, endOverdueJobs, {});
  };
  await lose();
  assert.equal((await jobsOf(pipeline_id)).build!.status, 'pending');
  assert.equal((await as('developer').get(`${at}/pipelines/${pipeline_id}`)).body.status, 'pending');
  assert.equal((await build.report('running')).status, 403);
  const again = (await runner.take())!;
  assert.equal(again.id, build.id);
  assert.notEqual(again.token, build.token);
  await lose();
  const { build: failed } = await jobsOf(pipeline_id);
  assert.deepEqual(
    [failed!.status, (failed as { failure_reason?: string }).failure_reason],
    [...['failed', 'runner_system_failure']],
  );
});

test('a job whose runner falls silent fails, and so does one that no runner takes', async () => {
  const { db, services, at, as, build, pipeline_id, jobsOf } = await taken();
  await build.report('running');
  await db.updateTable('job_runs').set({ seen_at: '2020-01-01' }).where('job_id', '=', build.id).execute();
  const waiting = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const old = { queued_at: '2020-01-01' };
  await db.updateTable('commit_statuses').set(old).where('pipeline_id', '=', waiting.id).execute();
  await performJob(services, endOverdueJobs, {});
  for (const id of [pipeline_id, waiting.id]) {
    const { build: failed } = await jobsOf(id);
    assert.equal((failed as { failure_reason?: string }).failure_reason, 'stuck_or_timeout_failure');
  }
  assert.equal((await build.report('running')).status, 403);
});

test('the log of a job that has ended can be erased', async () => {
  const { as, at, build } = await taken();
  await build.append('secret\n');
  const early = await as('maintainer').post(`${at}/jobs/${build.id}/erase`);
  assert.deepEqual([early.status, early.body.message], [403, '403 Forbidden - Job is not erasable!']);
  await build.end('success');
  assert.equal((await as('developer').post(`${at}/jobs/${build.id}/erase`)).status, 403);
  const erased = await as('maintainer').post(`${at}/jobs/${build.id}/erase`);
  assert.equal(erased.status, 201);
  assert.notEqual(erased.body.erased_at, null);
  const log = await as('maintainer').get(`${at}/jobs/${build.id}/trace`);
  assert.deepEqual([log.status, log.body], [200, null]);
});

test('a job gets the variables and archives of the jobs that it needs', async () => {
  const here = await built(`
stages: [build, test]
build: {script: make, stage: build, artifacts: {paths: [out], reports: {dotenv: build.env}}}
other: {script: make, stage: build}
test: {script: make test, stage: test, needs: [build]}
plain: {script: make plain, stage: test, dependencies: []}
`);
  const { as, at, services } = here;
  const { id: pipeline_id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const runner = await runnerOf(here);
  const build = (await runner.take())!;
  const upload = async (type: string, format: string, content: Buffer) => {
    const form = new FormData();
    form.set('file', new Blob([Uint8Array.from(content)]), `${type}.${format}`);
    const query = `artifact_type=${type}&artifact_format=${format}`;
    const reply = await fetch(`${here.url}/api/v4/jobs/${build.id}/artifacts?${query}`, {
      ...{ method: 'POST', headers: build.authorized, body: form },
    });
    assert.equal(reply.status, 201, await reply.text());
  };
  await upload('archive', 'zip', zipOf({ 'out/a.txt': 'made' }));
  await upload('dotenv', 'gzip', gzipSync('VERSION=1.2\nCI_COMMIT_REF_NAME=other\n'));
  await build.end('success');
  await (await runner.take())!.end('success');
  const [one, two] = [(await runner.take())!, (await runner.take())!];
  const [tested, plain] = one.job.job_info.name === 'test' ? [one, two] : [two, one];
  const value = (of: typeof one, key: string) =>
    of.job.variables.find((variable: { key: string; value: string }) => variable.key === key)?.value;
  assert.deepEqual([value(tested, 'VERSION'), value(plain, 'VERSION')], ['1.2', undefined]);
  assert.deepEqual(plain.job.dependencies, []);
  const [dependency] = tested.job.dependencies;
  assert.deepEqual([tested.job.dependencies.length, dependency.id, dependency.name], [1, build.id, 'build']);
  assert.ok(dependency.artifacts_file.size > 0);
  const fetched = await fetch(`${here.url}/api/v4/jobs/${build.id}/artifacts`, { headers: tested.authorized });
  assert.equal(fetched.status, 200);
  const other = await fetch(`${here.url}/api/v4/jobs/${build.id}/artifacts`, { headers: plain.authorized });
  assert.equal(other.status, 403);
  await sent(as('maintainer').post(`${at}/jobs/${build.id}/erase`));
  await tested.end('failed');
  await sent(as('maintainer').post(`${at}/jobs/${tested.id}/retry`));
  assert.equal(await runner.take(), undefined);
  await performQueued(services, [processAgain]);
  const jobs = await here.jobsOf(pipeline_id);
  assert.equal((jobs.test as { failure_reason?: string }).failure_reason, 'missing_dependency_failure');
});
