import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipped, report, sendFile } from '../../../../test/support/artifacts.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { failRejected, processAgain, stopByJob } from './index.ts';

const text = `
stages: [build, deploy]
build: {stage: build, script: make}
ship:
  stage: deploy
  script: make ship
  environment: {name: production, url: 'https://$CI_ENVIRONMENT_SLUG.example.org/$ADDED', on_stop: halt, auto_stop_in: 2 days}
  artifacts: {reports: {dotenv: ship.env}}
halt:
  stage: deploy
  script: make halt
  when: manual
  environment: {name: production, action: stop}
review:
  stage: deploy
  script: make review
  when: manual
  environment: {name: 'review/$CI_COMMIT_REF_SLUG', deployment_tier: testing}
`;

async function deploying(configuration = text) {
  const here = await built(configuration);
  const { as, at, services } = here;
  await sent(as('maintainer').delete(`${at}/protected_branches/main`));
  const start = async (persona: 'maintainer' | 'developer' = 'maintainer') =>
    (await sent(as(persona).post(`${at}/pipeline`, { ref: 'main' }))).id as number;
  const deployments = async () => {
    const { body } = await as('developer').get(`${at}/deployments?per_page=100`);
    return body as { id: number; status: string; deployable: { id: number; name: string } | null }[];
  };
  const environment = async (name: string) => {
    const { body } = await as('developer').get(`${at}/environments?name=${encodeURIComponent(name)}`);
    return body[0] as { id: number; state: string; external_url: string; tier: string; auto_stop_at: string | null };
  };
  const finish = () => performQueued(services, [processAgain, stopByJob, failRejected]);
  return { ...here, start, deployments, environment, finish, runner: await runnerOf(here) };
}

/** Takes the next job and ends it. */
async function run({ runner }: Awaited<ReturnType<typeof deploying>>, state: 'success' | 'failed' = 'success') {
  const job = (await runner.take())!;
  await job.end(state);
  return job.job.job_info.name as string;
}

test('a deployment follows its job, and the environment is what the job says', async () => {
  const here = await deploying();
  const { as, at, start, deployments, environment, runner, statesOf } = here;
  const id = await start();
  assert.deepEqual(
    (await deployments()).map(({ status, deployable }) => [deployable!.name, status]),
    [['ship', 'created']],
  );
  assert.equal(await environment('review/main'), undefined);
  assert.equal(await run(here), 'build');
  const ship = (await runner.take())!;
  assert.equal((await deployments())[0]!.status, 'running');
  const variables = Object.fromEntries(
    (ship.job.variables as { key: string; value: string }[]).map(({ key, value }) => [key, value]),
  );
  const { id: environment_id } = await environment('production');
  assert.deepEqual(
    [
      variables.CI_ENVIRONMENT_NAME,
      variables.CI_ENVIRONMENT_SLUG,
      variables.CI_ENVIRONMENT_ID,
      variables.CI_ENVIRONMENT_TIER,
    ],
    ['production', 'production', String(environment_id), 'production'],
  );
  await sendFile(here, ship, gzipped('ADDED=there\n'), report('dotenv'));
  await ship.end('success');
  const [deployment] = await deployments();
  assert.equal(deployment!.status, 'success');
  const after = await environment('production');
  assert.deepEqual([after.state, after.external_url], ['available', 'https://production.example.org/there']);
  assert.notEqual(after.auto_stop_at, null);
  const shown = await sent(as('developer').get(`${at}/environments/${environment_id}`));
  assert.equal(shown.last_deployment.deployable.id, ship.id);
  assert.equal((await as('maintainer').put(`${at}/deployments/${deployment!.id}`, { status: 'failed' })).status, 403);
  assert.equal((await statesOf(id)).ship, 'success');
});

test('a manual job makes its environment when it is started, and a failed job leaves it as it was', async () => {
  const here = await deploying();
  const { as, at, start, deployments, environment, jobsOf } = here;
  const id = await start();
  await run(here);
  await run(here, 'failed');
  assert.deepEqual(
    (await deployments()).map(({ status }) => status),
    ['failed'],
  );
  assert.equal((await environment('production')).external_url, null);
  await sent(as('developer').post(`${at}/jobs/${(await jobsOf(id)).review!.id}/play`));
  assert.equal((await environment('review/main')).tier, 'testing');
  assert.equal(await run(here), 'review');
  assert.deepEqual(
    (await deployments()).map(({ status }) => status),
    ['failed', 'success'],
  );
});

test('an environment is stopped by its job, and stays when that job fails', async () => {
  const here = await deploying();
  const { as, at, start, environment, finish, jobsOf } = here;
  const id = await start();
  await run(here);
  await run(here);
  const { id: environment_id } = await environment('production');
  const stop = (body = {}) => sent(as('developer').post(`${at}/environments/${environment_id}/stop`, body));
  assert.equal((await stop()).state, 'stopping');
  await finish();
  assert.equal((await jobsOf(id)).halt!.status, 'pending');
  assert.equal(await run(here, 'failed'), 'halt');
  assert.equal((await environment('production')).state, 'available');
  assert.equal((await stop()).state, 'stopping');
  await finish();
  assert.equal(await run(here), 'halt');
  assert.equal((await environment('production')).state, 'stopped');
  await sent(as('developer').post(`${at}/jobs/${(await jobsOf(id)).ship!.id}/retry`));
  await run(here);
  assert.equal((await environment('production')).state, 'available');
  assert.equal((await stop({ force: true })).state, 'stopped');
});

test('an environment that was renamed is stopped by its job nevertheless', async () => {
  const here = await deploying();
  const { as, at, start, environment, finish } = here;
  await start();
  await run(here);
  await run(here);
  const { id } = await environment('production');
  await sent(as('developer').put(`${at}/environments/${id}`, { name: 'live' }));
  await sent(as('developer').post(`${at}/environments/${id}/stop`));
  await finish();
  assert.equal(await run(here), 'halt');
  assert.equal((await environment('live')).state, 'stopped');
});

test('the environment of a branch is stopped when the branch is deleted', async () => {
  const here = await deploying(`
ship: {script: make, environment: {name: 'review/$CI_COMMIT_REF_SLUG', on_stop: halt}}
halt: {script: unmake, when: manual, environment: {name: 'review/$CI_COMMIT_REF_SLUG', action: stop}}
`);
  const { as, at, environment, finish } = here;
  await sent(as('maintainer').post(`${at}/repository/branches?branch=topic&ref=main`));
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'topic' }));
  await run(here);
  assert.equal((await environment('review/topic')).state, 'available');
  await sent(as('maintainer').delete(`${at}/repository/branches/topic`));
  assert.equal((await environment('review/topic')).state, 'stopping');
  await finish();
  assert.equal(await run(here), 'halt');
  assert.equal((await environment('review/topic')).state, 'stopped');
});

test('a job fails whose user may not deploy to a protected environment', async () => {
  const here = await deploying();
  const { as, at, start, deployments, jobsOf } = here;
  const levels = [{ access_level: 40 }];
  for (const name of ['production', 'review/main'])
    await sent(as('maintainer').post(`${at}/protected_environments`, { name, deploy_access_levels: levels }));
  const id = await start('developer');
  await run(here);
  const { ship, review } = (await jobsOf(id)) as Record<
    string,
    { id: number; status: string; failure_reason?: string }
  >;
  assert.deepEqual([ship!.status, ship!.failure_reason], ['failed', 'protected_environment_failure']);
  assert.deepEqual(
    (await deployments()).map(({ status }) => status),
    ['failed'],
  );
  assert.equal((await as('developer').post(`${at}/jobs/${review!.id}/play`)).status, 403);
  assert.equal((await jobsOf(id)).review!.status, 'manual');
  assert.equal((await as('maintainer').post(`${at}/jobs/${review!.id}/play`)).status, 200);
});

test('a job waits for the approvals that its environment needs, and fails when it is rejected', async () => {
  const here = await deploying();
  const { as, at, start, deployments, finish, jobsOf } = here;
  await sent(
    as('maintainer').post(`${at}/protected_environments`, {
      name: 'production',
      deploy_access_levels: [{ access_level: 30 }],
      approval_rules: [{ access_level: 40 }],
    }),
  );
  const held = async () => {
    const id = await start('developer');
    await run(here);
    const deployment = (await deployments()).at(-1)!;
    assert.equal(deployment.status, 'blocked');
    const { ship } = await jobsOf(id);
    assert.equal(ship!.status, 'manual');
    assert.equal((await as('developer').post(`${at}/jobs/${ship!.id}/play`)).status, 400);
    const answer = (status: string, persona: 'maintainer' | 'developer' = 'maintainer') =>
      as(persona).post(`${at}/deployments/${deployment.id}/approval`, { status });
    return { job_id: ship!.id, answer, state: async () => (await jobsOf(id)).ship!.status };
  };
  const approved = await held();
  await sent(approved.answer('approved'));
  assert.equal(await approved.state(), 'manual');
  await sent(as('developer').post(`${at}/jobs/${approved.job_id}/play`));
  assert.equal(await run(here), 'ship');
  const rejected = await held();
  await sent(rejected.answer('rejected'));
  await finish();
  assert.equal(await rejected.state(), 'failed');
  const { body } = await as('developer').get(`${at}/jobs/${rejected.job_id}`);
  assert.equal(body.failure_reason, 'deployment_rejected');
});

test('a freeze that refuses deployments holds their jobs, which Maintainers can start nevertheless', async () => {
  const here = await deploying();
  const { as, at, start, deployments, jobsOf } = here;
  await sent(as('maintainer').put(at, { deployment_freeze: 'refuse' }));
  const period = { freeze_start: '* * * * *', freeze_end: '0 0 1 1 *' };
  await sent(as('maintainer').post(`${at}/freeze_periods`, period));
  const id = await start();
  await run(here);
  const { ship } = await jobsOf(id);
  assert.equal(ship!.status, 'manual');
  const trace = await as('developer').get(`${at}/jobs/${ship!.id}/trace`);
  assert.match(String(trace.body), /^The project is in a deploy freeze.*Start this job afterwards\.\n$/);
  const play = (persona: 'maintainer' | 'developer', body = {}) =>
    as(persona).post(`${at}/jobs/${ship!.id}/play`, body);
  for (const refused of [await play('maintainer'), await play('developer', { override_freeze: true })]) {
    assert.equal(refused.status, 403);
    assert.match(refused.body.message, /deploy freeze/);
  }
  const told = async () =>
    (await as('owner').get(`${at}/audit_events?event_name=freeze_overridden`)).body.map(
      ({ details }: { details: object }) => details,
    );
  assert.deepEqual(await told(), []);
  await sent(play('maintainer', { override_freeze: true }));
  const [override, ...others] = await told();
  assert.deepEqual([override.target_type, others], ['Environment', []]);
  assert.equal(await run(here), 'ship');
  const { body } = await as('developer').get(`${at}/deployments/${(await deployments())[0]!.id}`);
  assert.deepEqual([body.status, body.during_freeze], ['success', true]);
});

test('a job does not deploy something older than its environment is at, unless it is tried again', async () => {
  const here = await deploying('ship: {script: make, when: manual, environment: production}\n');
  const { as, at, start, jobsOf } = here;
  const [first, second] = [await start(), await start()];
  const play = async (id: number) => sent(as('developer').post(`${at}/jobs/${(await jobsOf(id)).ship!.id}/play`));
  await play(first);
  await run(here);
  await sent(
    as('owner').post(`${at}/repository/commits`, {
      ...{ branch: 'main', commit_message: 'Next' },
      actions: [{ action: 'create', file_path: 'next', content: 'next' }],
    }),
  );
  const third = await start();
  await play(third);
  await run(here);
  await play(second);
  assert.equal(await here.runner.take(), undefined);
  const { ship } = (await jobsOf(second)) as Record<string, { failure_reason?: string }>;
  assert.equal(ship!.failure_reason, 'forward_deployment_failure');
  await sent(as('developer').post(`${at}/jobs/${(await jobsOf(first)).ship!.id}/retry`));
  assert.equal(await run(here), 'ship');
});

test('a job with a name of an environment that is none fails', async () => {
  const here = await deploying("ship: {script: make, environment: 'to/$CI_COMMIT_TITLE'}\n");
  await here.commit("ship: {script: make, environment: 'to/$CI_COMMIT_TITLE'}\n#", 'No: name!', 'odd');
  const id = (await sent(here.as('maintainer').post(`${here.at}/pipeline`, { ref: 'odd' }))).id as number;
  const { ship } = (await here.jobsOf(id)) as Record<string, { failure_reason?: string }>;
  assert.equal(ship!.failure_reason, 'environment_creation_failure');
});

test('a job makes a release when it succeeds, and fails when the release is refused', async () => {
  const here = await deploying(`
publish:
  script: make
  release: {tag_name: 'v$MAJOR.0', description: 'By $CI_JOB_NAME', assets: {links: [{name: Site, url: 'https://example.org/$MAJOR'}]}}
  artifacts: {reports: {dotenv: major.env}}
`);
  const { as, at, start, runner, jobsOf } = here;
  const publish = async () => {
    const id = await start();
    const job = (await runner.take())!;
    await sendFile(here, job, gzipped('MAJOR=3\n'), report('dotenv'));
    await job.end('success');
    return { id: job.id, status: (await jobsOf(id)).publish!.status };
  };
  assert.equal((await publish()).status, 'success');
  const release = await sent(as('reporter').get(`${at}/releases/v3.0`));
  assert.deepEqual(
    [release.tag_name, release.description, release.commit.id, release.assets.links[0].url],
    ['v3.0', 'By publish', here.sha, 'https://example.org/3'],
  );
  const again = await publish();
  assert.equal(again.status, 'failed');
  const { body } = await as('developer').get(`${at}/jobs/${again.id}/trace`);
  assert.match(String(body), /ERROR: The release was refused: Release already exists\n$/);
});

test('a deployment names who started its manual job', async () => {
  const { as, at, people, jobsOf } = await built('ship: {script: make, when: manual, environment: production}\n');
  const { id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  await sent(as('owner').post(`${at}/jobs/${(await jobsOf(id)).ship!.id}/play`));
  const [deployment] = await sent(as('developer').get(`${at}/deployments`));
  assert.deepEqual([deployment.user.id, deployment.deployable.user.id], [people.owner.id, people.owner.id]);
});
