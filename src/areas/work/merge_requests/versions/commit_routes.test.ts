import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addBranch, addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import { headOf, repositoryIn } from '../../../../../test/support/repository.ts';
import type { Persona } from '../../../../../test/support/world.ts';
import { git, keepAroundRef } from '../../../../git/index.ts';
import { concludeMerges } from '../merging/jobs.ts';
import { followMergeRequests, prepareMergeRequest } from './jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests, concludeMerges];

test('a commit shows the merge requests that contain it or were merged by it, if the caller may read them', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  const [base, head] = [(await headOf(here))!, (await headOf(here, 'topic'))!];
  await addBranch(here, 'release');
  await addMergeRequest(here);
  await addMergeRequest(here, { target_branch: 'release' });
  await performQueued(here.services, jobs);
  const found = async (sha: string, parameters = {}, by: Persona = 'reporter') => {
    const answer = await as(by).get(`/projects/${project.id}/repository/commits/${sha}/merge_requests`, parameters);
    return answer.status === 200 ? answer.body.map(({ iid }: { iid: number }) => iid) : answer.status;
  };
  assert.deepEqual(await found(head), [2, 1]);
  assert.deepEqual(await found('topic', { per_page: 1, page: 2 }), [1]);
  assert.deepEqual(
    [await found(base), await found(head.replace(/.$/, 'x')), await found(head, {}, 'guest')],
    [[], 404, 403],
  );

  const merged = await as('maintainer').put(`/projects/${project.id}/merge_requests/1/merge`, { squash: true });
  assert.deepEqual(await found(head, { state: 'opened' }), [2]);
  for (const sha of [merged.body.merge_commit_sha, merged.body.squash_commit_sha])
    assert.deepEqual(await found(sha), [1]);

  const rewritten = { branch: 'topic', start_branch: 'main', force: true, commit_message: 'Anew' };
  const actions = [{ action: 'create', file_path: 'anew.txt', content: 'anew' }];
  await as('maintainer').post(`/projects/${project.id}/repository/commits`, { ...rewritten, actions });
  await performQueued(here.services, jobs);
  assert.deepEqual([await found(head), await found('topic')], [[1], [2]], 'what the last version has counts');
});

test('context commits are added, kept and removed', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  await addBranch(here, 'before');
  const [base, before] = [(await headOf(here))!, (await headOf(here, 'before'))!];
  const url = `/projects/${project.id}/merge_requests/${(await addMergeRequest(here)).iid}/context_commits`;
  const ids = (body: { id: string }[]) => body.map(({ id }) => id);
  const added = await as('developer').post(url, { commits: [before.slice(0, 9), base, base] });
  assert.deepEqual([added.status, ids(added.body)], [201, [before, base]]);
  await as('developer').post(url, { commits: [base] });
  await as('maintainer').delete(`/projects/${project.id}/repository/branches/before`);
  const kept = await git(repositoryIn(here), 'for-each-ref', ['--format=%(objectname)'], [keepAroundRef(before)]);
  assert.equal(kept.toString().trim(), before);

  for (const [commits, message] of [
    [['f'.repeat(40)], 'commits: one of them is not a commit of the project'],
    [['main'], 'commits: one of them is not a commit of the project'],
    [[], 'commits: one of them is not a commit of the project'],
    [Array(21).fill(base), 'commits: at most 20 at a time'],
  ] as const)
    assert.deepEqual((await as('developer').post(url, { commits })).body, { message });
  assert.equal((await as('developer').post(url, {})).body.message, 'commits is missing');
  assert.equal((await as('reporter').post(url, { commits: [base] })).status, 403);
  assert.equal((await as('guest').get(url)).status, 404);
  assert.deepEqual(ids((await as('reporter').get(url)).body).toSorted(), [before, base].toSorted());

  assert.equal((await as('reporter').delete(url, { commits: [before] })).status, 403);
  assert.equal((await as('developer').delete(url, { commits: [before] })).status, 204);
  assert.deepEqual(ids((await as('reporter').get(url)).body), [base]);
});
