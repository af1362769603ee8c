import assert from 'node:assert/strict';
import { test } from 'node:test';
import { built, configuration } from '../../../../test/support/pipelines.ts';
import { cloneFor, transports } from '../../../../test/support/pushing.ts';
import { sent } from '../../../../test/support/sent.ts';
import { world } from '../../../../test/support/world.ts';

/** On a server of the file, where pushes make pipelines. */
async function builtByPushes(text = configuration) {
  await sent((await world({})).as('admin').put('/application/settings', { pipelines_for_pushes: true }));
  return built(text, {});
}

test('a push starts a pipeline once, and none where the configuration wants none', async () => {
  const { as, at, commit, sha, finishJobs } = await builtByPushes();
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

test('a newer commit of a branch cancels what has not begun for older ones, and rules see what the push has changed', async () => {
  const { as, at, finishJobs, statesOf, project } = await builtByPushes(
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

test('options of a push skip its pipeline, and give it variables and inputs, over HTTP and SSH', async () => {
  const rule = '$DEPTH == "3" && "$[[ inputs.size ]]" == "2"';
  const here = await builtByPushes(
    `spec: {inputs: {size: {type: number}}}\n---\nbuild:\n  script: make\n  rules:\n    - if: ${rule}`,
  );
  const { as, at, finishJobs, statesOf } = here;
  await finishJobs();
  const { begin, commit, push } = await cloneFor(here, 'developer');
  for (const transport of transports) {
    await begin(transport);
    await commit();
    const given = ['-o', 'ci.variable=DEPTH=3', '-o', 'ci.input=size=2', '-o', 'ci.what=1'];
    const { stderr } = await push(transport, ...given, transport);
    assert.match(stderr, /remote: The push option ci\.what has no effect\./);
    await commit();
    await push(transport, '-o', 'ci.input=size=2', '-o', 'ci.variable=DEPTH=3', '-o', 'ci.skip', transport);
    await finishJobs();
    const [skipped, built] = (await as('maintainer').get(`${at}/pipelines?ref=${transport}`)).body;
    assert.deepEqual([skipped.status, Object.keys(await statesOf(built.id))], ['skipped', ['build']]);
    const [variable] = (await as('maintainer').get(`${at}/pipelines/${built.id}/variables`)).body;
    assert.deepEqual([variable.key, variable.value], ['DEPTH', '3']);
  }
});

test('pushes make no pipelines unless the setting is on', async () => {
  const { as, at, finishJobs } = await built(configuration, {});
  await sent(as('admin').put('/application/settings', { pipelines_for_pushes: false }));
  await finishJobs();
  const before = (await as('developer').get(`${at}/pipelines`)).body.length;
  await sent(
    as('owner').post(`${at}/repository/files/a.md`, { branch: 'main', content: 'a', commit_message: 'Add text' }),
  );
  await finishJobs();
  assert.equal((await as('developer').get(`${at}/pipelines`)).body.length, before);
});
