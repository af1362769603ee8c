import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { batch, objectFor, pointerFor, upload } from '../../../../../test/support/lfs.ts';
import { addBranch, addFork, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import { fileUrl, onMain } from '../../../../../test/support/repository.ts';
import { followMergeRequests, prepareMergeRequest } from '../versions/jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests];

test('large files from a fork can be fetched from the target, but only those that the fork has', async () => {
  const here = await worldWithTopic();
  const { as, db, project } = here;
  const fork = await addFork(here, 'developer');
  const row = await db
    .selectFrom('projects')
    .select(['id', 'full_path', 'path'])
    .where('id', '=', fork.id)
    .executeTakeFirstOrThrow();
  const there = { ...here, project: row };
  const [first, second, unmentioned, foreign] = ['first', 'second', 'unmentioned', 'foreign'].map((text) =>
    Buffer.from(text),
  );
  for (const bytes of [first, second, unmentioned])
    assert.equal((await upload(there, 'developer', bytes!)).status, 200);
  const other = (await as('owner').post('/projects', { name: 'other' })).body;
  const secret = { ...here, project: { id: other.id, full_path: other.path_with_namespace, path: other.path } };
  assert.equal((await upload(secret, 'owner', foreign!)).status, 200);

  await addBranch(here, 'art', fork, 'developer');
  const add = async (file: string, bytes: Buffer) => {
    const change = { ...onMain, branch: 'art', content: pointerFor(objectFor(bytes)) };
    assert.equal((await as('developer').post(fileUrl(fork, file), change)).status, 201);
  };
  await add('first.psd', first!);
  await add('foreign.psd', foreign!);
  const asked = { title: 'Art', source_branch: 'art', target_branch: 'main', target_project_id: project.id };
  assert.equal((await as('developer').post(`/projects/${fork.id}/merge_requests`, asked)).status, 201);
  const all = [first, second, unmentioned, foreign].map((bytes) => objectFor(bytes!));
  const found = async () => {
    const { body } = await batch(here, 'reporter', 'download', all);
    return body.objects.map(({ actions }: { actions?: object }) => actions !== undefined);
  };
  assert.deepEqual(await found(), [false, false, false, false]);
  await performQueued(here.services, jobs);
  assert.deepEqual(await found(), [true, false, false, false]);
  await add('second.psd', second!);
  assert.equal((await as('maintainer').put(`/projects/${project.id}/merge_requests/1/merge`)).status, 200);
  assert.deepEqual(await found(), [true, true, false, false], 'merged before the job has seen the last version');
});
