import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performJob } from '../../../../test/support/jobs.ts';
import { filledWorld, headOf } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import { assignPipelines, refreshPipelines } from './jobs.ts';

test('statuses without a pipeline are assigned to pipelines', async () => {
  const here = await filledWorld();
  const { as, db, project, people, services } = here;
  const at = `/projects/${project.id}`;
  const sha = (await headOf(here))!;
  // As a process of the version before writes them, while another one already knows pipelines.
  const old = { project_id: project.id, user_id: people.developer.id, sha };
  const insert = (row: object) =>
    db
      .insertInto('commit_statuses')
      .values({ ...old, ref: 'main', name: 'build', status: 'success', ...row })
      .returning('id')
      .executeTakeFirstOrThrow();
  const first = await insert({ status: 'failed', retried: true });
  await insert({ finished_at: '2026-01-02T00:00:00Z' });
  const known = await sent(as('developer').post(`${at}/statuses/${sha}`, { state: 'success', ref: 'side' }));
  await insert({ ref: 'side', name: 'lint', status: 'running' });
  assert.equal((await as('reporter').get(`${at}/pipelines`)).body.length, 1);
  assert.equal((await as('reporter').get(`${at}/jobs`)).body.length, 1);

  await performJob(services, assignPipelines);
  const shown = (await as('reporter').get(`${at}/pipelines`, { sort: 'asc' })).body;
  assert.deepEqual(
    shown.map(({ id, iid, ref, status }: Record<string, unknown>) => [id, iid, ref, status]),
    [
      [first.id, 2, 'main', 'success'],
      [known.pipeline_id, 1, 'side', 'running'],
    ],
  );
  const main = (await as('reporter').get(`${at}/pipelines/${first.id}`)).body;
  assert.deepEqual([main.user.id, main.finished_at], [people.developer.id, '2026-01-02T00:00:00.000Z']);
  assert.equal((await as('reporter').get(`${at}/jobs`)).body.length, 4);
  const again = await sent(
    as('developer').post(`${at}/statuses/${sha}`, { state: 'failed', name: 'build', ref: 'main' }),
  );
  assert.equal(again.pipeline_id, first.id);
});

test('pipelines are refreshed whose statuses were finished by an older process', async () => {
  const here = await filledWorld();
  const { as, db, project, services } = here;
  const at = `/projects/${project.id}`;
  const sha = (await headOf(here))!;
  const report = (ref: string, state: string) =>
    sent(as('developer').post(`${at}/statuses/${sha}`, { state, ref, name: 'build' }));
  const ended = await report('main', 'running');
  const begun = await report('waiting', 'pending');
  const open = await report('open', 'running');
  const write = (id: number, status: string, finished_at: string | null) =>
    db.updateTable('commit_statuses').set({ status, finished_at }).where('id', '=', id).execute();
  await write(ended.id, 'success', '2026-01-02T00:00:00Z');
  await write(begun.id, 'running', null);
  const before = (await as('reporter').get(`${at}/pipelines/${open.pipeline_id}`)).body;

  await performJob(services, refreshPipelines);
  const shown = async (id: number) => (await as('reporter').get(`${at}/pipelines/${id}`)).body;
  const { status, finished_at } = await shown(ended.pipeline_id);
  assert.deepEqual([status, finished_at], ['success', '2026-01-02T00:00:00.000Z']);
  assert.equal((await shown(begun.pipeline_id)).status, 'running');
  assert.deepEqual(await shown(open.pipeline_id), before);
});
