import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { gitClient, remoteOf } from '../../../../../test/support/git.ts';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { built } from '../../../../../test/support/pipelines.ts';
import { allowLocalHooks, sendHooks, startReceiver } from '../../../../../test/support/receiver.ts';
import { runnerOf } from '../../../../../test/support/runners.ts';
import { sent } from '../../../../../test/support/sent.ts';
import { world } from '../../../../../test/support/world.ts';
import { startForPush } from '../../../ci/running/index.ts';
import { followMergeRequests, prepareMergeRequest, remindOfPipeline, startMergeRequestPipeline } from '../index.ts';
import { rebaseSource } from '../merging/rebase_jobs.ts';

const receiver = await startReceiver();
after(() => receiver.stop());

const text = `
unit: {script: make, rules: [{if: $CI_PIPELINE_SOURCE == "merge_request_event"}]}
docs: {script: make docs, rules: [{if: $CI_MERGE_REQUEST_IID, changes: [docs/*]}]}
branch: {script: make, rules: [{if: $CI_COMMIT_BRANCH && $CI_OPEN_MERGE_REQUESTS == null}]}
old: {script: make, only: [merge_requests]}
`;

async function proposed(configuration = text) {
  await sent((await world({})).as('admin').put('/application/settings', { pipelines_for_pushes: true }));
  const here = await built(configuration, {});
  const { as, at, services } = here;
  const work = () =>
    performQueued(services, [startForPush, followMergeRequests, prepareMergeRequest, startMergeRequestPipeline]);
  const push = (file_path: string, message = 'Write', branch = 'topic') =>
    sent(
      as('developer').post(`${at}/repository/commits`, {
        ...{ branch, commit_message: message, actions: [{ action: 'create', file_path, content: 'a' }] },
      }),
    );
  await sent(as('developer').post(`${at}/repository/branches`, { branch: 'topic', ref: 'main' }));
  await push('docs/a.md');
  await work();
  const asked = { source_branch: 'topic', target_branch: 'main', title: 'Pick', description: 'Apples', labels: 'b,a' };
  const merge_request = await sent(as('developer').post(`${at}/merge_requests`, asked));
  const path = `${at}/merge_requests/${merge_request.iid}`;
  const pipelines = async () => (await as('developer').get(`${path}/pipelines`)).body;
  return { ...here, path, merge_request, push, work, pipelines };
}

test('a merge request starts a pipeline of the jobs for it, and a push to its branch another one', async () => {
  const { as, at, path, merge_request, work, push, pipelines, statesOf } = await proposed();
  await work();
  const [first, ofPush] = await pipelines();
  assert.deepEqual(
    [first.source, first.ref, first.sha, ofPush.source],
    ['merge_request_event', `refs/merge-requests/${merge_request.iid}/head`, merge_request.sha, 'push'],
  );
  assert.deepEqual(Object.keys(await statesOf(first.id)).toSorted(), ['docs', 'old', 'unit']);
  assert.deepEqual(Object.keys(await statesOf(ofPush.id)), ['branch']);
  assert.equal((await as('developer').get(path)).body.head_pipeline.id, first.id);
  await push('a.txt');
  await work();
  const [second, before, ...others] = await pipelines();
  assert.deepEqual(
    [second.source, before.id, before.status, others.length],
    ['merge_request_event', first.id, 'canceled', 1],
  );
  assert.deepEqual(Object.keys(await statesOf(second.id)).toSorted(), ['docs', 'old', 'unit']);
  assert.equal((await as('developer').get(`${at}/pipelines/${second.id}`)).body.tag, false);
});

test('a pipeline is made for a merge request by who may run it, and cancelled and retried', async () => {
  const { as, at, path, work, pipelines, people } = await proposed();
  await work();
  const asked = await as('developer').post(`${path}/pipelines`);
  assert.deepEqual(
    [asked.status, asked.body.source, asked.body.user.id],
    [201, 'merge_request_event', people.developer.id],
  );
  assert.equal((await pipelines())[0].id, asked.body.id);
  assert.equal((await as('developer').post(`${at}/pipelines/${asked.body.id}/cancel`)).body.status, 'canceled');
  assert.equal((await as('developer').post(`${at}/pipelines/${asked.body.id}/retry`)).body.status, 'pending');
  assert.equal((await as('reporter').post(`${path}/pipelines`)).status, 403);
});

test('a merge request without jobs for it starts nothing, and one whose message says so is skipped', async () => {
  const none = await proposed('build: {script: make}');
  await none.work();
  assert.deepEqual(
    (await none.pipelines()).map(({ source }: { source: string }) => source),
    ['push'],
  );
  const refused = await none.as('developer').post(`${none.path}/pipelines`);
  assert.equal(refused.status, 400);
  assert.match(refused.body.message.base[0], /^Pipeline will not run for the selected trigger/);
  const skipped = await proposed();
  await skipped.push('b.txt', 'Write [skip ci]');
  await skipped.work();
  const [newest] = await skipped.pipelines();
  assert.deepEqual([newest.source, newest.status], ['merge_request_event', 'skipped']);
});

test('the author of a merge request is reminded of a failed pipeline until one succeeds', async () => {
  const here = await proposed('unit: {script: make, rules: [{if: $CI_MERGE_REQUEST_IID}]}\n');
  const { as, at, work, pipelines, jobsOf, services } = here;
  const runner = await runnerOf(here);
  const todos = async () => {
    await performQueued(services, [remindOfPipeline]);
    const { body } = await as('developer').get('/todos?action=build_failed');
    return (body as { target: { title: string } }[]).map(({ target }) => target.title);
  };
  await work();
  const [{ id }] = await pipelines();
  await (await runner.take())!.end('failed');
  assert.deepEqual(await todos(), ['Pick']);
  assert.deepEqual((await as('maintainer').get('/todos?action=build_failed')).body, []);
  await sent(as('developer').post(`${at}/jobs/${(await jobsOf(id)).unit!.id}/retry`));
  assert.deepEqual(await todos(), ['Pick']);
  await (await runner.take())!.end('success');
  assert.deepEqual(await todos(), []);
});

test('a branch that is rebased with skip_ci starts no jobs', async () => {
  const { as, at, path, work, push, services } = await proposed('build: {script: make}\n');
  await work();
  await sent(as('owner').delete(`${at}/protected_branches/main`));
  await push('b.txt', 'Go on', 'main');
  await work();
  const rebased = async (skip_ci: boolean) => {
    await sent(as('developer').put(`${path}/rebase`, { skip_ci }));
    await performQueued(services, [rebaseSource]);
    await work();
    const { body } = await as('developer').get(`${at}/pipelines?ref=topic`);
    return (body as { status: string }[])[0]!.status;
  };
  assert.equal(await rebased(true), 'skipped');
  await push('c.txt', 'Go on', 'main');
  assert.equal(await rebased(false), 'pending');
});

test('a push that skips its pipelines skips that of the merge request, too', async () => {
  const { url, project, people, work, pipelines } = await proposed();
  await work();
  const { run } = await gitClient();
  const remote = remoteOf(url, project.full_path, people.developer.token);
  await run(['clone', '-q', '-b', 'topic', remote, '.']);
  await run(['commit', '-q', '--allow-empty', '-m', 'Go on']);
  assert.equal((await run(['push', '-q', '-o', 'ci.skip', remote, 'topic'])).code, 0);
  await work();
  const [newest] = await pipelines();
  assert.deepEqual([newest.source, newest.status], ['merge_request_event', 'skipped']);
});

test('pipelines that people start know the merge requests of their branch, and webhooks say which one a pipeline is for', async () => {
  const here = await proposed();
  const { as, at, path, merge_request, work } = here;
  await allowLocalHooks(here);
  await sent(
    as('maintainer').post(`${at}/hooks`, { url: `${receiver.url}/ci`, push_events: false, pipeline_events: true }),
  );
  await work();
  // Its only job is for branches without a merge request.
  const refused = await as('developer').post(`${at}/pipeline`, { ref: 'topic' });
  assert.match(refused.body.message.base[0], /^Pipeline will not run for the selected trigger/);
  const { id } = await sent(as('developer').post(`${path}/pipelines`));
  await sendHooks(here);
  const told = receiver.take().filter(({ body }) => body.object_attributes.id === id);
  assert.ok(told.length > 0);
  for (const { body } of told)
    assert.deepEqual(
      [body.merge_request.iid, body.merge_request.target_project_id, body.merge_request.url],
      [merge_request.iid, here.project.id, merge_request.web_url],
    );
});

test('jobs know whether their merge request was approved', async () => {
  const { as, path, work } = await proposed(
    'done: {script: make, rules: [{if: $CI_MERGE_REQUEST_APPROVED == "true"}]}\n',
  );
  await work();
  assert.equal((await as('developer').post(`${path}/pipelines`)).status, 400);
  await sent(as('maintainer').post(`${path}/approve`));
  assert.equal((await as('developer').post(`${path}/pipelines`)).status, 201);
});
