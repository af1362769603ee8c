/** The TypeScript client @gitbeaker/rest: pipelines and jobs made of commit statuses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gitlab } from '@gitbeaker/rest';
import { filledWorld, headOf } from '../support/repository.ts';
import { refusal } from './gitbeaker_refusal.ts';

test('statuses are read as pipelines and jobs, and a pipeline is deleted', async () => {
  const here = await filledWorld();
  const { project, people, url } = here;
  const api = new Gitlab({ host: url, token: people.owner.token });
  const sha = (await headOf(here))!;
  await api.Commits.editStatus(project.id, sha, 'failed', { name: 'build' });
  const [pipeline] = await api.Pipelines.all(project.id, { status: 'failed' });
  assert.deepEqual([pipeline!.sha, pipeline!.source], [sha, 'external']);
  const shown = await api.Pipelines.show(project.id, pipeline!.id);
  assert.equal(shown.detailed_status.text, 'Failed');
  const jobs = await api.Jobs.all(project.id, { pipelineId: pipeline!.id });
  assert.deepEqual(
    jobs.map(({ name, status }) => [name, status]),
    [['build', 'failed']],
  );
  assert.equal((await api.Jobs.show(project.id, jobs[0]!.id)).commit.id, sha);
  assert.equal((await refusal(api.Pipelines.retry(project.id, pipeline!.id))).status, 405);
  await api.Pipelines.remove(project.id, pipeline!.id);
  assert.deepEqual(await api.Pipelines.all(project.id), []);
});
