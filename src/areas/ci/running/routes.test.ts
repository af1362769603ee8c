import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { performJob } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { startDelayed } from './index.ts';

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

test('pipelines that are older than the settings say do not run again', async () => {
  const here = await built(undefined, {});
  const { as, at, db, jobsOf } = here;
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const { build, review } = await jobsOf(id);
  const setting = 'archive_builds_in_human_readable';
  const refused = await as('admin').put('/application/settings', { [setting]: '2 hours' });
  assert.equal(refused.status, 400);
  assert.equal((await sent(as('admin').put('/application/settings', { [setting]: '2 days' })))[setting], '2 days');
  await sent(as('maintainer').post(`${at}/pipelines/${id}/cancel`));
  await sent(as('maintainer').post(`${at}/jobs/${build!.id}/retry`));
  await db.updateTable('pipelines').set({ created_at: '2026-01-01T00:00:00Z' }).where('id', '=', id).execute();
  assert.equal((await sent(as('developer').get(`${at}/pipelines/${id}`))).archived, true);
  assert.equal((await sent(as('developer').get(`${at}/jobs/${build!.id}`))).archived, true);
  for (const path of [`pipelines/${id}/retry`, `jobs/${build!.id}/retry`, `jobs/${review!.id}/play`])
    assert.equal((await as('maintainer').post(`${at}/${path}`)).status, 403, path);
  await sent(as('admin').put('/application/settings', { [setting]: null }));
  assert.equal((await sent(as('developer').get(`${at}/pipelines/${id}`))).archived, false);
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

test('delayed jobs start when their time has come, each at its own', async () => {
  const { as, at, db, services, project, statesOf, jobsOf } = await built(
    'soon: {script: make, when: delayed, start_in: 1 minute}\nlater: {script: make, when: delayed, start_in: 1 hour}',
  );
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const { soon } = await jobsOf(id);
  const payload = { pipeline_id: id, project_id: project.id };
  await performJob(services, startDelayed, payload);
  assert.deepEqual(await statesOf(id), { soon: 'scheduled', later: 'scheduled' });
  await sql`update commit_statuses set scheduled_at = now() where id = ${soon!.id}`.execute(db);
  await performJob(services, startDelayed, payload);
  assert.deepEqual(await statesOf(id), { soon: 'pending', later: 'scheduled' });
});

test('deleting a pipeline hands its resource on', async () => {
  const { as, at, statesOf } = await built('ship: {script: make, resource_group: production}');
  const start = async () => (await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }))).id;
  const [first, second] = [await start(), await start()];
  assert.equal((await statesOf(second)).ship, 'waiting_for_resource');
  assert.equal((await as('owner').delete(`${at}/pipelines/${first}`)).status, 204);
  assert.equal((await statesOf(second)).ship, 'pending');
});

test('variables with one key, and texts that cannot be stored, are refused', async () => {
  const { as, at, commit } = await built();
  const variables = [
    { key: 'A', value: '1' },
    { key: 'A', value: '2' },
  ];
  const doubled = await as('maintainer').post(`${at}/pipeline`, { ref: 'main', variables });
  assert.deepEqual([doubled.status, doubled.body.message], [400, { base: ['Duplicate variable name: A'] }]);
  for (const [branch, script] of [
    ['nul', '"make \\0"'],
    ['half', '"make \\ud800"'],
  ] as const) {
    await commit(`job: {script: [${script}]}`, 'Write it', branch);
    const { status, body } = await as('maintainer').post(`${at}/pipeline`, { ref: branch });
    assert.equal(status, 400, JSON.stringify(body));
  }
  const inputs = { name: ['\0'] };
  const wrong = await as('maintainer').post(`${at}/pipeline`, { ref: 'main', inputs });
  assert.deepEqual([wrong.status, wrong.body.error], [400, 'inputs is invalid']);
});

test('a job that is being cancelled is taken from its runner by force', async () => {
  const here = await built('build: {script: make}');
  const { as, at, jobsOf } = here;
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const { build } = await jobsOf(id);
  const cancel = async (force: boolean) => {
    const { status, body } = await as('maintainer').post(`${at}/jobs/${build!.id}/cancel`, { force });
    return [status, body.status ?? body.message];
  };
  const refused = [400, 'force is for jobs that are canceling'];
  assert.deepEqual(await cancel(true), refused);
  const taken = (await (await runnerOf(here)).take())!;
  await taken.report('running');
  assert.deepEqual(await cancel(true), refused);
  assert.deepEqual(await cancel(false), [201, 'canceling']);
  assert.deepEqual(await cancel(true), [201, 'canceled']);
  assert.deepEqual(await cancel(true), refused);
  assert.equal((await taken.end('success')).status, 403);
});
