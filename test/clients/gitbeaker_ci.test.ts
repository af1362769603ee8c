/** The TypeScript client @gitbeaker/rest: pipelines of a configuration, and runners. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { leaveFiles } from '../support/artifacts.ts';
import { built } from '../support/pipelines.ts';
import { runnerOf } from '../support/runners.ts';

const configuration = `
stages: [build, deploy]
build: {stage: build, script: make}
ask: {stage: deploy, script: make ask, when: manual}
ship: {stage: deploy, script: make ship, needs: [], resource_group: production}
`;

async function begun() {
  const here = await built(configuration);
  const { project, people, url } = here;
  const api = new Gitlab({ host: url, token: people.maintainer.token });
  return { ...here, id: project.id, api };
}

test('gitbeaker: a configuration is linted, and a pipeline started, executed, retried, cancelled and deleted', async () => {
  const here = await begun();
  const { api, id, people, url } = here;
  const linted = await api.Lint.lint(id, 'build: {script: make}', { includeJobs: true });
  assert.deepEqual([linted.valid, linted.errors], [true, []]);
  assert.equal((await api.Lint.lint(id, 'build: {}')).valid, false);
  assert.equal((await api.Lint.check(id, {})).valid, true);

  const variables = [{ key: 'DEPTH', value: '3', variableType: 'env_var' as const }];
  const pipeline = await api.Pipelines.create(id, 'main', { variables });
  assert.equal(pipeline.source, 'api');
  assert.deepEqual(
    (await api.Pipelines.allVariables(id, pipeline.id)).map(({ key, value }) => [key, value]),
    [['DEPTH', '3']],
  );
  assert.deepEqual(await api.Jobs.allPipelineBridges(id, pipeline.id), []);

  const runner = await runnerOf(here);
  for (let job = await runner.take(); job; job = await runner.take()) {
    await job.append('made\n');
    await job.end('success');
  }
  const jobs = await api.Jobs.all(id, { pipelineId: pipeline.id });
  const named = (name: string) => jobs.find((job) => job.name === name)!.id;
  assert.equal((await api.Jobs.show(id, named('build'))).status, 'success');
  assert.equal(await api.Jobs.showLog(id, named('build')), 'made\n');
  assert.equal((await api.Jobs.play(id, named('ask'))).status, 'pending');
  assert.equal((await api.Jobs.cancel(id, named('ask'))).status, 'canceled');
  const again = await api.Jobs.retry(id, named('build'));
  assert.equal(again.status, 'pending');
  assert.ok((await api.Jobs.erase(id, named('build'))).erased_at);
  const held = (await runner.take())!;
  await held.end('failed');
  assert.equal((await api.Pipelines.retry(id, pipeline.id)).status, 'running');
  assert.equal((await api.Pipelines.cancel(id, pipeline.id)).status, 'canceled');
  assert.equal((await api.Pipelines.showLatest(id, { ref: 'main' })).id, pipeline.id);
  await new Gitlab({ host: url, token: people.owner.token }).Pipelines.remove(id, pipeline.id);
  assert.deepEqual(await api.Pipelines.all(id), []);
});

test('gitbeaker: the files of a job are downloaded, kept and deleted, and its tests are read', async () => {
  const here = await begun();
  const { api, id, jobsOf } = here;
  const pipeline = await api.Pipelines.create(id, 'main');
  const job = (await jobsOf(pipeline.id)).build!.id;
  await leaveFiles(here, job);
  const archive = await api.JobArtifacts.downloadArchive(id, { jobId: job });
  assert.equal(
    Buffer.from(await archive.arrayBuffer())
      .subarray(0, 2)
      .toString(),
    'PK',
  );
  const file = await api.JobArtifacts.downloadArchive(id, { jobId: job, artifactPath: 'out/apple.txt' });
  assert.equal(String(file), 'an apple');
  assert.equal((await api.JobArtifacts.keep(id, job)).artifacts_expire_at, null);
  const report = await api.Pipelines.showTestReport(id, pipeline.id);
  assert.deepEqual([report.total_count, report.failed_count], [2, 1]);
  assert.equal((await api.Pipelines.showTestReportSummary(id, pipeline.id)).total.failed, 1);
  await api.JobArtifacts.remove(id, { jobId: job });
  await assert.rejects(api.JobArtifacts.downloadArchive(id, { jobId: job }));
});

test('gitbeaker: schedules with variables are added, changed, run and deleted', async () => {
  const { api, id } = await begun();
  const made = await api.PipelineSchedules.create(id, 'Nightly', 'main', '0 1 * * *', { cronTimezone: 'UTC' });
  await api.PipelineScheduleVariables.create(id, made.id, 'DEPTH', '3');
  await api.PipelineScheduleVariables.edit(id, made.id, 'DEPTH', '4');
  const shown = await api.PipelineSchedules.show(id, made.id);
  assert.deepEqual(
    (shown.variables as { key: string; value: string }[]).map(({ key, value }) => [key, value]),
    [['DEPTH', '4']],
  );
  assert.equal((await api.PipelineSchedules.edit(id, made.id, { active: false })).active, false);
  assert.equal((await api.PipelineSchedules.takeOwnership(id, made.id)).id, made.id);
  assert.ok(await api.PipelineSchedules.run(id, made.id));
  assert.deepEqual(await api.PipelineSchedules.allTriggeredPipelines(id, made.id), []);
  await api.PipelineScheduleVariables.remove(id, made.id, 'DEPTH');
  await api.PipelineSchedules.remove(id, made.id);
  assert.deepEqual(await api.PipelineSchedules.all(id), []);
});

test('gitbeaker: a trigger token is added, used, changed and deleted, and a resource group is changed', async () => {
  const { api, id } = await begun();
  const made = await api.PipelineTriggerTokens.create(id, 'From the build of a library');
  const pipeline = await api.PipelineTriggerTokens.trigger(id, 'main', made.token, { variables: { DEPTH: '3' } });
  assert.equal((await api.Pipelines.show(id, pipeline.id)).source, 'trigger');
  assert.equal((await api.PipelineTriggerTokens.edit(id, made.id, { description: 'Another' })).description, 'Another');
  assert.equal((await api.PipelineTriggerTokens.all(id)).length, 1);
  await api.PipelineTriggerTokens.remove(id, made.id);
  const groups = await api.ResourceGroups.all(id);
  assert.deepEqual(
    groups.map(({ key, process_mode }) => [key, process_mode]),
    [['production', 'unordered']],
  );
  assert.equal(
    (await api.ResourceGroups.edit(id, 'production', { processMode: 'oldest_first' })).process_mode,
    'oldest_first',
  );
  assert.deepEqual(await api.ResourceGroups.allUpcomingJobs(id, 'production'), []);
});

test('gitbeaker: a runner is registered, verified, changed, listed with its jobs, and deleted', async () => {
  const here = await begun();
  const { api, id } = here;
  const { runners_token } = await api.Projects.show(id);
  const made = await api.Runners.register(runners_token as string, { description: 'Small', tagList: ['linux'] });
  // Its types forget the token, which it sends.
  const named = { token: made.token, systemId: 's_1' };
  await api.Runners.verify(named);
  assert.deepEqual((await api.Runners.show(made.id)).tag_list, ['linux']);
  assert.equal((await api.Runners.edit(made.id, { description: 'Large' })).description, 'Large');
  assert.deepEqual(
    (await api.Runners.all({ projectId: id })).map((runner) => runner.id),
    [made.id],
  );
  assert.deepEqual(await api.Runners.allJobs(made.id), []);
  await api.Runners.remove({ runnerId: made.id });
  assert.deepEqual(await api.Runners.all({ projectId: id }), []);
});

test('gitbeaker: files for jobs are uploaded, shown, downloaded and deleted', async () => {
  const { api, id } = await begun();
  const made = await api.SecureFiles.create(id, 'key.jks', { content: new Blob(['secret']), filename: 'key.jks' });
  assert.equal((await api.SecureFiles.show(id, String(made.id))).name, 'key.jks');
  assert.equal(await (await api.SecureFiles.download(id, made.id)).text(), 'secret');
  await api.SecureFiles.remove(id, made.id);
  assert.deepEqual(await api.SecureFiles.all(id), []);
});
