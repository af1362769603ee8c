import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { browserOf } from '../../../../test/support/browser.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { allowLocalHooks, sendHooks, startReceiver } from '../../../../test/support/receiver.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';

const receiver = await startReceiver();
after(() => receiver.stop());

test('a job shows the runner and the machine that it was given to', async () => {
  const here = await built('build: {script: make}');
  const { as, at, db, project, people } = here;
  const { id: pipeline_id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const [waiting] = await sent(as('developer').get(`${at}/pipelines/${pipeline_id}/jobs`));
  assert.deepEqual([waiting.runner, waiting.runner_manager], [null, null]);
  const runner = await runnerOf(here, { description: 'Press', tag_list: 'linux' });
  const build = (await runner.take())!;
  const shown = await sent(as('developer').get(`${at}/jobs/${build.id}`));
  assert.deepEqual(shown.runner, {
    ...{ id: runner.id, description: 'Press', ip_address: '127.0.0.1', active: true, paused: false, is_shared: false },
    ...{ runner_type: 'project_type', name: null, online: true, status: 'online' },
  });
  const { id, created_at, contacted_at, ...manager } = shown.runner_manager;
  assert.deepEqual(manager, {
    ...{ system_id: 's_1', version: '17.0.0', revision: null, platform: 'linux', architecture: 'amd64' },
    ...{ ip_address: '127.0.0.1', status: 'online' },
  });
  assert.ok(Date.parse(created_at) && Date.parse(contacted_at));
  const browser = await browserOf(here, people.developer);
  assert.ok((await browser.get(`/${project.full_path}/-/jobs/${build.id}`)).html.includes(`#${runner.id} Press (s_1)`));

  await db.deleteFrom('runner_managers').where('id', '=', id).execute();
  const forgotten = await sent(as('developer').get(`${at}/jobs/${build.id}`));
  assert.deepEqual([forgotten.runner.id, forgotten.runner_manager], [runner.id, null]);
});

test('webhooks say which runner has a job', async () => {
  const here = await built('build: {script: make}', {});
  const { as, at } = here;
  await allowLocalHooks(here);
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const hook = { url: `${receiver.url}/ci`, push_events: false, pipeline_events: true, job_events: true };
  await sent(as('maintainer').post(`${at}/hooks`, hook));
  const runner = await runnerOf(here, { description: 'Press', tag_list: 'linux' });
  await (await runner.take())!.end('success');
  await here.finishJobs();
  await sendHooks(here);
  const told = receiver.take();
  const of = (event: string) => told.filter(({ headers }) => headers['x-gitlab-event'] === event);
  const known = {
    ...{ id: runner.id, description: 'Press', active: true, is_shared: false },
    ...{ runner_type: 'project_type', tags: ['linux'] },
  };
  assert.deepEqual(of('Job Hook').find(({ body }) => body.build_status === 'success')!.body.runner, known);
  assert.deepEqual(
    of('Pipeline Hook').find(({ body }) => body.object_attributes.status === 'success')!.body.builds[0].runner,
    known,
  );
});

test('a machine that asks for jobs too often is told to wait, and others are not', async () => {
  const here = await built('build: {script: make}', {});
  const runner = await runnerOf(here);
  await runner.request();
  const counts = here.db.updateTable('request_counts').where('name', '=', 'job_requests_of_manager');
  await counts.set({ count: 119 }).execute();
  assert.equal((await runner.request()).status, 204);
  const refused = await runner.request();
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  assert.equal((await runner.request({ system_id: 's_2' })).status, 204);
});

test('wrong tokens of runners are counted by address, and do not harm a runner with the right one', async () => {
  const here = await built('build: {script: make}', {});
  const runner = await runnerOf(here);
  const guesses: [path: string, status: number][] = [
    ['/jobs/request', 403],
    ['/runners/verify', 403],
    ['/runners', 403],
  ];
  const guess = async (path: string) => runner.call('POST', path, { body: { token: 'wrong' } });
  for (const [path, status] of guesses) assert.equal((await guess(path)).status, status);
  const counts = here.db.updateTable('request_counts').where('name', '=', 'runner_token_guesses_from_address');
  await counts.set({ count: 50 }).execute();
  for (const [path] of guesses) {
    const { status, body, headers } = await guess(path);
    assert.deepEqual([status, body.message], [429, 'Too many attempts. Try again later.'], path);
    assert.equal(headers.get('retry-after'), '600');
  }
  assert.equal((await runner.request()).status, 204);
});
