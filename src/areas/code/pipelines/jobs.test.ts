import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performJob } from '../../../../test/support/jobs.ts';
import { filledWorld, headOf } from '../../../../test/support/repository.ts';
import { sent } from '../../../../test/support/sent.ts';
import { assignPipelines } from './jobs.ts';

test('statuses that were written without a pipeline get theirs', async () => {
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
