import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { allowLocalHooks, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { filledWorld, headOf } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import type { World } from '../../../../test/support/world.ts';

const receiver = await startReceiver();
after(() => receiver.stop());

interface Reported extends World {
  sha: string;
  at: string;
  say(state: string, parameters?: object): Promise<{ id: number; pipeline_id: number }>;
}

/**
 * A world with a commit to report on.
 * @param options as for `world`
 */
async function reported(options?: object): Promise<Reported> {
  const here = await filledWorld(options);
  const sha = (await headOf(here))!;
  const at = `/projects/${here.project.id}`;
  const say = (state: string, parameters: object = {}) =>
    sent(here.as('developer').post(`${at}/statuses/${sha}`, { state, ...parameters }));
  return { ...here, sha, at, say };
}

test('the statuses of a commit and ref form a pipeline, which has their combined status', async () => {
  const { as, at, say, sha, people, project, url } = await reported();
  const build = await say('running', { name: 'build' });
  const lint = await say('pending', { name: 'lint' });
  assert.equal(lint.pipeline_id, build.pipeline_id);
  const [listed] = (await as('reporter').get(`${at}/pipelines`)).body;
  assert.match(listed.web_url, new RegExp(`/${project.full_path}/-/pipelines/${build.pipeline_id}$`));
  const { created_at, updated_at, web_url, ...shown } = listed;
  assert.deepEqual(shown, {
    id: build.pipeline_id,
    iid: 1,
    project_id: project.id,
    sha,
    ref: 'main',
    status: 'running',
    source: 'external',
    name: null,
  });
  await say('success', { name: 'build', coverage: 40 });
  await say('failed', { name: 'lint', coverage: 61 });
  const single = (await as('reporter').get(`${at}/pipelines/${build.pipeline_id}`)).body;
  assert.deepEqual(
    [single.status, single.tag, single.user.id, single.coverage, single.before_sha, single.detailed_status.text],
    ['failed', false, people.developer.id, '50.50', '0'.repeat(40), 'Failed'],
  );
  assert.equal((await fetch(new URL(single.detailed_status.favicon, url), { redirect: 'follow' })).status, 200);
  assert.ok(single.started_at && single.finished_at);
  assert.deepEqual((await as('reporter').get(`${at}/pipelines/latest`)).body, single);
  // A status that replaces the failed one begins the pipeline anew.
  await say('pending', { name: 'lint' });
  const again = (await as('reporter').get(`${at}/pipelines/${build.pipeline_id}`)).body;
  assert.deepEqual([again.status, again.finished_at], ['running', null]);
  const { last_pipeline, status } = (await as('reporter').get(`${at}/repository/commits/${sha}`)).body;
  assert.deepEqual([last_pipeline.id, last_pipeline.status, status], [build.pipeline_id, 'running', 'running']);
});

test('a status names its pipeline, and one of another commit or ref is refused', async () => {
  const { as, at, say, sha } = await reported();
  const side = await say('success', { ref: 'side' });
  const added = await say('failed', { name: 'other', pipeline_id: side.pipeline_id });
  assert.equal(added.pipeline_id, side.pipeline_id);
  const refusal = { message: { pipeline_id: ['is not a pipeline of this commit and ref'] } };
  for (const parameters of [{ pipeline_id: side.pipeline_id, ref: 'main' }, { pipeline_id: 999_999 }]) {
    const refused = await as('developer').post(`${at}/statuses/${sha}`, { state: 'success', ...parameters });
    assert.deepEqual([refused.status, refused.body], [400, refusal]);
  }
  assert.equal((await as('reporter').get(`${at}/pipelines`)).body.length, 1);
  assert.equal((await as('reporter').get(`${at}/pipelines/latest`)).status, 404);
  assert.equal((await as('reporter').get(`${at}/pipelines/latest`, { ref: 'nowhere' })).status, 404);
});

test('two concurrent statuses of a new commit create one pipeline', async () => {
  const { as, at, say } = await reported();
  const ids = await Promise.all(Array.from({ length: 6 }, (_, index) => say('success', { name: `job ${index}` })));
  assert.equal(new Set(ids.map(({ pipeline_id }) => pipeline_id)).size, 1);
  assert.equal((await as('reporter').get(`${at}/pipelines`)).body.length, 1);
});

test('lists are filtered and ordered', async () => {
  const { as, at, say, people, project } = await reported();
  await sent(as('maintainer').post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' }));
  const [main, tag, side] = [
    await say('running'),
    await say('success', { ref: 'v1' }),
    await say('failed', { ref: 'side' }),
  ];
  const [a, b, c] = [main.pipeline_id, tag.pipeline_id, side.pipeline_id];
  const ids = async (parameters: object) =>
    (await as('reporter').get(`${at}/pipelines`, { ...parameters })).body.map(({ id }: { id: number }) => id);
  for (const [parameters, expected] of [
    [{}, [c, b, a]],
    [{ sort: 'asc' }, [a, b, c]],
    [{ scope: 'running' }, [a]],
    [{ scope: 'pending' }, []],
    [{ scope: 'finished' }, [c, b]],
    [{ scope: 'tags' }, [b]],
    [{ scope: 'branches' }, [c, a]],
    [{ status: 'success' }, [b]],
    [{ status: 'manual' }, []],
    [{ source: 'push' }, []],
    [{ source: 'external', ref: 'side' }, [c]],
    [{ username: people.developer.username }, [c, b, a]],
    [{ username: 'nobody' }, []],
    [{ name: 'x' }, []],
    [{ updated_after: '2000-01-01T00:00:00Z', created_before: '2001-01-01T00:00:00Z' }, []],
    [{ order_by: 'ref', sort: 'asc' }, [a, c, b]],
    [{ order_by: 'status' }, [b, a, c]],
    [{ order_by: 'user_id' }, [c, b, a]],
    [{ order_by: 'updated_at', per_page: 2 }, [c, b]],
  ] as const)
    assert.deepEqual(await ids(parameters), expected, JSON.stringify(parameters));
  assert.equal((await as('reporter').get(`${at}/pipelines`, { scope: 'all' })).status, 400);
  assert.equal((await as('reporter').get(`/projects/${project.id}/pipelines/${a}/bridges`)).body.length, 0);
});

test('a job is a status of its pipeline', async () => {
  const { as, at, say, sha } = await reported();
  const first = await say('failed', { name: 'build' });
  const second = await say('success', { name: 'build', target_url: 'https://build.example/2' });
  const jobs = `${at}/pipelines/${first.pipeline_id}/jobs`;
  const ids = async (url: string, parameters: object = {}) =>
    (await as('reporter').get(url, { ...parameters })).body.map(({ id }: { id: number }) => id);
  assert.deepEqual(await ids(jobs), [second.id]);
  assert.deepEqual(await ids(jobs, { include_retried: true }), [second.id, first.id]);
  assert.deepEqual(await ids(`${at}/jobs`), [second.id, first.id]);
  assert.deepEqual(await ids(`${at}/jobs`, { 'scope[]': 'failed' }), [first.id]);
  assert.deepEqual(await ids(`${at}/jobs`, { 'scope[]': 'manual' }), []);
  const job = (await as('reporter').get(`${at}/jobs/${second.id}`)).body;
  assert.deepEqual(
    [job.stage, job.name, job.status, job.commit.id, job.pipeline.id, job.web_url, job.artifacts, job.runner],
    ['external', 'build', 'success', sha, first.pipeline_id, 'https://build.example/2', [], null],
  );
  const { web_url } = (await as('reporter').get(`${at}/jobs/${first.id}`)).body;
  assert.match(web_url, new RegExp(`/-/commit/${sha}$`));
  for (const [part, text] of [
    ['trace', '404 Not Found'],
    ['artifacts', '404 Not found'],
  ]) {
    const { status, body } = await as('reporter').get(`${at}/jobs/${first.id}/${part}`);
    assert.deepEqual([status, body.message], [404, text]);
  }
  for (const action of ['play', 'retry', 'cancel', 'erase'])
    assert.equal((await as('developer').post(`${at}/jobs/${first.id}/${action}`)).status, 405);
  for (const url of [`pipelines/${first.pipeline_id}/retry`, `pipelines/${first.pipeline_id}/cancel`])
    assert.equal((await as('developer').post(`${at}/${url}`)).status, 405, url);
});

test('Guests read pipelines unless the project forbids it, and only Owners delete one', async () => {
  const { as, at, say } = await reported();
  const { id, pipeline_id } = await say('success');
  const single = `${at}/pipelines/${pipeline_id}`;
  const reading = async () => {
    const statuses = [];
    for (const persona of ['anonymous', 'outsider', 'guest', 'reporter'] as const)
      statuses.push((await as(persona).get(single)).status);
    return statuses;
  };
  assert.deepEqual(await reading(), [404, 404, 200, 200]);
  assert.equal((await as('guest').get(`${at}/jobs/${id}`)).body.commit, null);
  const kept = await as('owner').put(at, { public_jobs: false });
  assert.equal(kept.body.public_jobs, false);
  assert.deepEqual(await reading(), [404, 404, 403, 200]);
  assert.equal((await as('maintainer').delete(single)).status, 403);
  assert.equal((await as('owner').delete(single)).status, 204);
  assert.equal((await as('reporter').get(single)).status, 404);
  assert.deepEqual((await as('reporter').get(`${at}/jobs`)).body, []);
  assert.equal((await as('owner').delete(single)).status, 404);
});

test('a merge request has the pipeline of its head', async () => {
  const { as, at } = await reported();
  await sent(as('developer').post(`${at}/repository/branches`, { branch: 'side', ref: 'main' }));
  const file = { branch: 'side', commit_message: 'x', content: 'x' };
  await sent(as('developer').post(`${at}/repository/files/x`, file));
  const asked = { source_branch: 'side', target_branch: 'main', title: 'Side' };
  const { iid, sha } = await sent(as('developer').post(`${at}/merge_requests`, asked));
  const url = `${at}/merge_requests/${iid}`;
  assert.equal((await as('reporter').get(url)).body.head_pipeline, null);
  const status = await sent(as('developer').post(`${at}/statuses/${sha}`, { state: 'failed', ref: 'side' }));
  // A later one of another ref does not count.
  await sent(as('developer').post(`${at}/statuses/${sha}`, { state: 'success', ref: 'other' }));
  const { pipeline, head_pipeline } = (await as('reporter').get(url)).body;
  assert.deepEqual(
    [pipeline.id, head_pipeline.id, head_pipeline.status],
    [...Array(2).fill(status.pipeline_id), 'failed'],
  );
  assert.equal((await as('reporter').get(`${url}/pipelines`)).body.length, 2);
  await as('owner').put(at, { only_allow_merge_if_pipeline_succeeds: true });
  assert.equal((await as('maintainer').put(`${url}/merge`)).status, 405);
  await sent(as('developer').post(`${at}/statuses/${sha}`, { state: 'success', ref: 'side' }));
  assert.equal((await as('maintainer').put(`${url}/merge`)).status, 200);
});

test('webhooks receive each job, and each status change of a pipeline', async () => {
  const here = await reported({});
  const { as, at, say, sha, project, people } = here;
  await allowLocalHooks(here);
  const hook = { url: `${receiver.url}/ci`, push_events: false, pipeline_events: true, job_events: true };
  const { id } = await sent(as('maintainer').post(`${at}/hooks`, hook));
  const missing = await as('maintainer').post(`${at}/hooks/${id}/test/pipeline_events`);
  assert.equal(missing.body.message, 'Ensure the project has CI pipelines.');
  const build = await say('running', { name: 'build' });
  await say('pending', { name: 'lint' });
  await say('success', { name: 'build' });
  await say('success', { name: 'lint' });
  await sendHooks(here);
  const told = receiver.take();
  const of = (event: string) =>
    told.filter(({ headers }) => headers['x-gitlab-event'] === event).map(({ body }) => body);
  assert.equal(of('Job Hook').length, 4);
  const pipelines = of('Pipeline Hook');
  assert.deepEqual(pipelines.map(({ object_attributes }) => object_attributes.status).sort(), ['running', 'success']);
  const done = pipelines.find(({ object_attributes }) => object_attributes.status === 'success')!;
  assert.deepEqual(
    [done.object_kind, done.object_attributes.id, done.object_attributes.source, done.user.id, done.commit.id],
    ['pipeline', build.pipeline_id, 'external', people.developer.id, sha],
  );
  assert.ok(done.object_attributes.url.endsWith(`/${project.full_path}/-/pipelines/${build.pipeline_id}`));
  assert.deepEqual(
    done.builds.map(({ name, status }: Record<string, string>) => [name, status]),
    [
      ['lint', 'success'],
      ['build', 'success'],
    ],
  );
  const job = of('Job Hook').find(
    ({ build_name, build_status }) => build_name === 'build' && build_status === 'success',
  )!;
  assert.deepEqual(
    [job.object_kind, job.build_id, job.pipeline_id, job.commit.message, job.project_name],
    ['build', build.id, build.pipeline_id, 'Change a file', project.full_path],
  );
  const { author_name, author_email } = (await as('developer').get(`${at}/repository/commits/${sha}`)).body;
  assert.ok(author_email.includes('@'));
  const { commit } = job;
  const known = Object.values(people).find(({ username }) => author_email.startsWith(`${username}@`));
  assert.deepEqual(
    [commit.author_name, commit.author_email, commit.author_url],
    [author_name, author_email, known ? `${here.services.url}/${known.username}` : `mailto:${author_email}`],
  );
  assert.deepEqual([commit.sha, commit.status, done.merge_request], [sha, 'running', null]);
  for (const trigger of ['pipeline_events', 'job_events'])
    assert.equal((await as('maintainer').post(`${at}/hooks/${id}/test/${trigger}`)).status, 201);
  receiver.take();

  await sent(as('developer').post(`${at}/repository/branches`, { branch: 'proposed', ref: 'main' }));
  const change = {
    branch: 'proposed',
    commit_message: 'Propose',
    actions: [{ action: 'create', file_path: 'p', content: 'p' }],
  };
  const head = (await sent(as('developer').post(`${at}/repository/commits`, change))).id;
  const merge = { source_branch: 'proposed', target_branch: 'main', title: 'Propose' };
  const { id: merge_id, iid } = await sent(as('developer').post(`${at}/merge_requests`, merge));
  await sent(as('developer').post(`${at}/statuses/${head}`, { state: 'success', ref: 'proposed' }));
  await sendHooks(here);
  const [proposed] = receiver.take().filter(({ headers }) => headers['x-gitlab-event'] === 'Pipeline Hook');
  const { url, ...about } = proposed!.body.merge_request;
  assert.deepEqual(about, {
    id: merge_id,
    iid,
    title: 'Propose',
    source_branch: 'proposed',
    source_project_id: project.id,
    target_branch: 'main',
    target_project_id: project.id,
    state: 'opened',
    merge_status: about.merge_status,
  });
  assert.ok(url.endsWith(`/${project.full_path}/-/merge_requests/${iid}`));
});
