import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { filledWorld } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import { processAgain, startForPush } from './index.ts';

const configuration = `
stages: [build, test, deploy]
build: {stage: build, script: make, tags: [linux]}
lint: {stage: build, script: make lint, allow_failure: true}
test: {stage: test, script: make test}
review: {stage: deploy, script: make review, when: manual}
ship: {stage: deploy, script: make ship, needs: [build], resource_group: production}
later: {stage: deploy, script: make later, needs: [], when: delayed, start_in: 1 hour}
`;

async function built(text = configuration) {
  const here = await filledWorld();
  const { as, project, services } = here;
  const finishJobs = () => performQueued(services, [startForPush, processAgain]);
  const at = `/projects/${project.id}`;
  const commit = (content: string, message = 'Build', branch = 'main') =>
    sent(
      as('owner').post(`${at}/repository/commits`, {
        ...{ branch, start_branch: branch === 'main' ? undefined : 'main', commit_message: message },
        actions: [{ action: branch === 'main' ? 'create' : 'update', file_path: `.gitlab-ci.yml`, content }],
      }),
    );
  const jobsOf = async (id: number) => {
    const body = await sent(as('developer').get(`${at}/pipelines/${id}/jobs?per_page=100`));
    return Object.fromEntries((body as { name: string; status: string; id: number }[]).map((job) => [job.name, job]));
  };
  const statesOf = async (id: number) =>
    Object.fromEntries(Object.entries(await jobsOf(id)).map(([name, { status }]) => [name, status]));
  const { id: sha } = await commit(text);
  return { ...here, at, sha, commit, jobsOf, statesOf, finishJobs };
}

test('a person starts a pipeline of a branch, whose first jobs wait for a runner', async () => {
  const { as, at, sha, statesOf, jobsOf, people } = await built();
  const pipeline = await sent(
    as('maintainer').post(`${at}/pipeline`, { ref: 'main', variables: [{ key: 'DEPTH', value: '3' }] }),
  );
  assert.deepEqual(
    [pipeline.source, pipeline.sha, pipeline.status, pipeline.user.id],
    ['api', sha, 'running', people.maintainer.id],
  );
  assert.deepEqual(await statesOf(pipeline.id), {
    ...{ build: 'pending', lint: 'pending', test: 'created', review: 'created', ship: 'created', later: 'scheduled' },
  });
  const { build } = await jobsOf(pipeline.id);
  const { body: shown } = await as('developer').get(`${at}/jobs/${build!.id}`);
  assert.deepEqual([shown.stage, shown.tag_list, shown.allow_failure], ['build', ['linux'], false]);
  assert.match(shown.web_url, new RegExp(`/-/jobs/${build!.id}$`));
  const variables = (await as('maintainer').get(`${at}/pipelines/${pipeline.id}/variables`)).body;
  assert.deepEqual(variables, [{ key: 'DEPTH', value: '3', variable_type: 'env_var', raw: false }]);
  const commit = (await as('developer').get(`${at}/repository/commits/${sha}`)).body;
  assert.deepEqual([commit.status, commit.last_pipeline.id], ['running', pipeline.id]);
});

test('cancelling, retrying and starting jobs moves those behind them', async () => {
  const { as, at, statesOf, jobsOf } = await built();
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const canceled = await as('maintainer').post(`${at}/pipelines/${id}/cancel`);
  assert.deepEqual([canceled.status, canceled.body.status], [200, 'canceled']);
  assert.deepEqual(new Set(Object.values(await statesOf(id))), new Set(['canceled']));
  const again = await as('maintainer').post(`${at}/pipelines/${id}/retry`);
  assert.deepEqual([again.status, again.body.status], [201, 'running']);
  const jobs = await jobsOf(id);
  assert.equal(jobs.build!.status, 'pending');
  const all = (await as('developer').get(`${at}/pipelines/${id}/jobs?include_retried=true&per_page=100`)).body;
  assert.equal(all.length, 12);
  const refused = await as('maintainer').post(`${at}/jobs/${jobs.build!.id}/retry`);
  assert.deepEqual([refused.status, refused.body.message], [403, '403 Forbidden - Job is not retryable']);
  const unplayable = await as('maintainer').post(`${at}/jobs/${jobs.build!.id}/play`);
  assert.deepEqual([unplayable.status, unplayable.body.message], [400, '400 Bad request - Unplayable Job']);
  const played = await as('maintainer').post(`${at}/jobs/${jobs.later!.id}/play`);
  assert.deepEqual([played.status, played.body.status], [200, 'pending']);
  const one = await as('maintainer').post(`${at}/jobs/${jobs.build!.id}/cancel`);
  assert.deepEqual([one.status, one.body.status], [201, 'canceled']);
  assert.equal((await statesOf(id)).ship, 'skipped');
  const renewed = await as('maintainer').post(`${at}/jobs/${jobs.build!.id}/retry`);
  assert.deepEqual([renewed.status, renewed.body.status], [201, 'pending']);
  assert.notEqual(renewed.body.id, jobs.build!.id);
  assert.equal((await statesOf(id)).ship, 'created');
});

test('a resource is given to one job after the other', async () => {
  const { as, at, jobsOf, statesOf, finishJobs } = await built('ship: {script: make, resource_group: production}');
  const start = async () => (await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }))).id;
  const [first, second, third] = [await start(), await start(), await start()];
  assert.deepEqual(
    [(await statesOf(first!)).ship, (await statesOf(second!)).ship, (await statesOf(third!)).ship],
    ['pending', 'waiting_for_resource', 'waiting_for_resource'],
  );
  await sent(as('maintainer').post(`${at}/jobs/${(await jobsOf(first!)).ship!.id}/cancel`));
  assert.deepEqual(
    [(await statesOf(second!)).ship, (await statesOf(third!)).ship],
    ['pending', 'waiting_for_resource'],
  );
  await finishJobs();
  assert.equal((await as('developer').get(`${at}/pipelines/${second}`)).body.status, 'pending');
});

test('what cannot be started says why', async () => {
  const here = await built('nothing: {script: make, rules: [{when: never}]}');
  const { as, at } = here;
  const start = async (parameters: Record<string, unknown>, who: 'maintainer' | 'reporter' = 'maintainer') => {
    const { status, body } = await as(who).post(`${at}/pipeline`, parameters);
    return [status, body.message ?? body.error];
  };
  assert.deepEqual(await start({ ref: 'none' }), [400, { base: ['Reference not found'] }]);
  assert.deepEqual(await start({ ref: 'main' }), [
    400,
    {
      base: [
        'Pipeline will not run for the selected trigger. The rules configuration prevented any jobs from being added to the pipeline.',
      ],
    },
  ]);
  assert.deepEqual(await start({}), [400, 'ref is missing']);
  assert.equal((await start({ ref: 'main' }, 'reporter'))[0], 403);
  await sent(as('owner').put(at, { builds_access_level: 'disabled' }));
  assert.equal((await start({ ref: 'main' }))[0], 403);
});

test('a push starts a pipeline once, and none where the configuration wants none', async () => {
  const { as, at, commit, sha, finishJobs } = await built();
  await finishJobs();
  const pipelines = async () => (await as('developer').get(`${at}/pipelines?per_page=100`)).body;
  const [first, ...others] = await pipelines();
  assert.deepEqual([first.source, first.sha, first.ref, others.length], ['push', sha, 'main', 0]);
  await commit('broken: [', 'Break it', 'broken');
  await commit(`${configuration}# again`, 'Leave it [ci skip]', 'left');
  await finishJobs();
  const [skipped, broken] = await pipelines();
  assert.deepEqual([skipped.ref, skipped.status], ['left', 'skipped']);
  assert.deepEqual([broken.ref, broken.status], ['broken', 'failed']);
  const single = (await as('developer').get(`${at}/pipelines/${broken.id}`)).body;
  assert.equal(single.failure_reason, 'config_error');
  assert.ok(single.yaml_errors);
});

test('pipelines of reported statuses are not run here', async () => {
  const { as, at, sha } = await built();
  const { id, pipeline_id } = await sent(as('maintainer').post(`${at}/statuses/${sha}`, { state: 'pending' }));
  for (const path of [
    `pipelines/${pipeline_id}/retry`,
    `pipelines/${pipeline_id}/cancel`,
    `jobs/${id}/play`,
    `jobs/${id}/retry`,
    `jobs/${id}/cancel`,
  ])
    assert.equal((await as('maintainer').post(`${at}/${path}`)).status, 405, path);
});

test('a newer commit of a branch cancels what has not begun for older ones, and rules see what the push has changed', async () => {
  const { as, at, finishJobs, statesOf, project } = await built(
    'always: {script: make}\ndocs: {script: make docs, rules: [{changes: [docs/*]}]}',
  );
  await finishJobs();
  await sent(
    as('owner').post(`${at}/repository/files/docs%2Fa.md`, {
      branch: 'main',
      content: 'a',
      commit_message: 'Add docs',
    }),
  );
  await finishJobs();
  const [second, first] = (await as('developer').get(`${at}/pipelines`)).body;
  assert.deepEqual([second.status, first.status], ['pending', 'canceled']);
  assert.deepEqual(Object.keys(await statesOf(second.id)).toSorted(), ['always', 'docs']);
  const single = (await as('developer').get(`${at}/pipelines/${second.id}`)).body;
  assert.equal(single.before_sha, first.sha);
  await sent(as('owner').put(at, { auto_cancel_pending_pipelines: 'disabled' }));
  await sent(
    as('owner').post(`${at}/repository/files/a.md`, { branch: 'main', content: 'a', commit_message: 'Add text' }),
  );
  await finishJobs();
  const [third, kept] = (await as('developer').get(`/projects/${project.id}/pipelines`)).body;
  assert.deepEqual([third.status, kept.status], ['pending', 'pending']);
  assert.deepEqual(Object.keys(await statesOf(third.id)), ['always']);
});

test('pipelines of our own are hidden where builds are, and those of other systems stay', async () => {
  const { as, at, sha } = await built();
  const own = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const reported = await sent(as('maintainer').post(`${at}/statuses/${sha}`, { state: 'success' }));
  await sent(as('owner').put(at, { builds_access_level: 'disabled' }));
  const { body } = await as('maintainer').get(`${at}/pipelines`);
  assert.deepEqual(
    body.map(({ id }: { id: number }) => id),
    [reported.pipeline_id],
  );
  assert.equal((await as('maintainer').get(`${at}/pipelines/${own.id}`)).status, 404);
  assert.deepEqual((await as('maintainer').get(`${at}/pipelines/${own.id}/jobs`)).status, 404);
});
