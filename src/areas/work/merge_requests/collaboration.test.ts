import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../test/support/git.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { addBranch, addFork, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { fileUrl, onMain } from '../../../../test/support/repository.ts';
import type { Persona } from '../../../../test/support/world.ts';
import { repositoryOf, resolveBranch } from '../../../git/index.ts';
import { followMergeRequests, prepareMergeRequest, rebaseSource } from './index.ts';

const jobs = [prepareMergeRequest, followMergeRequests, rebaseSource];

test('users who may merge a merge request can push to its branch in the fork, and nowhere else', async () => {
  const here = await worldWithTopic();
  const { as, people, project, services } = here;
  await as('owner').put(`/groups/${here.group.id}`, { visibility: 'public' });
  await as('owner').put(`/projects/${project.id}`, { visibility: 'public' });
  const fork = await addFork(here, 'outsider');
  for (const branch of ['beans', 'peas']) await addBranch(here, branch, fork, 'outsider');
  const asked = { title: 'Beans', source_branch: 'beans', target_branch: 'main', target_project_id: project.id };
  const made = await as('outsider').post(`/projects/${fork.id}/merge_requests`, {
    ...asked,
    allow_collaboration: true,
  });
  assert.deepEqual([made.status, made.body.allow_collaboration], [201, true]);
  const url = `/projects/${project.id}/merge_requests/${made.body.iid}`;
  const headIn = (branch: string) => resolveBranch(repositoryOf(services, { id: fork.id, storage: 'default' }), branch);

  let count = 0;
  const commit = async (by: Persona, branch: string, more = {}) => {
    const { status, body } = await as(by).post(fileUrl(fork, `by-${by}-${++count}.txt`), {
      ...onMain,
      branch,
      content: by,
      ...more,
    });
    return status === 201 ? status : `${status} ${body.message}`;
  };
  assert.equal(await commit('maintainer', 'beans'), 201);
  const refusal = '400 You are not allowed to push into this branch';
  assert.equal(await commit('maintainer', 'peas'), refusal);
  assert.equal(await commit('maintainer', 'new', { start_branch: 'beans' }), refusal);
  assert.equal(await commit('developer', 'beans'), refusal, 'who may not merge into the protected target');
  assert.equal(await commit('reporter', 'beans'), '403 403 Forbidden');
  const branches = `/projects/${fork.id}/repository/branches`;
  assert.equal((await as('maintainer').delete(`${branches}/beans`)).status, 403);
  assert.equal((await as('maintainer').post(branches, { branch: 'mine', ref: 'beans' })).status, 403);

  const { folder, run } = await gitClient();
  const { full_path } = await services.db
    .selectFrom('projects')
    .select('full_path')
    .where('id', '=', fork.id)
    .executeTakeFirstOrThrow();
  await run(['clone', '-q', '-b', 'beans', remoteOf(here.url, full_path, people.maintainer.token), 'fork']);
  await writeFile(path.join(folder, 'fork/pushed.txt'), 'pushed\n');
  await run(['add', '.'], { at: 'fork' });
  await run(['commit', '-qm', 'Push'], { at: 'fork' });
  const push = (...refs: string[]) => run(['push', 'origin', ...refs], { at: 'fork' });
  const refused = /You are not allowed to push code to this project\./;
  for (const refs of [['HEAD:peas'], ['HEAD:new'], [':beans'], ['HEAD:refs/tags/v1'], ['HEAD:beans', 'HEAD:peas']]) {
    const before = await headIn('beans');
    assert.match((await push('--force', ...refs)).stderr, refused, refs.join(' '));
    assert.equal(await headIn('beans'), before);
  }
  assert.deepEqual((await push('HEAD:beans')).code, 0);
  await performQueued(services, jobs);
  assert.equal((await as('reporter').get(url)).body.sha, await headIn('beans'));
  await as('maintainer').post(fileUrl(project, 'moved-on.txt'), { ...onMain, content: 'on' });
  assert.equal((await as('maintainer').put(`${url}/rebase`)).status, 202);
  await performQueued(services, jobs);
  const rebased = (await as('reporter').get(url, { include_diverged_commits_count: true })).body;
  assert.deepEqual(
    [rebased.merge_error, rebased.diverged_commits_count, rebased.sha],
    [null, 0, await headIn('beans')],
  );

  await as('outsider').put(url, { allow_collaboration: false });
  assert.equal(await commit('maintainer', 'beans'), '403 403 Forbidden');
  await as('outsider').put(url, { allow_collaboration: true });
  await as('outsider').post(`/projects/${fork.id}/protected_branches`, { name: 'beans' });
  assert.equal(await commit('maintainer', 'beans'), refusal);
  await as('outsider').delete(`/projects/${fork.id}/protected_branches/beans`);
  assert.equal(await commit('maintainer', 'beans'), 201);
  await as('outsider').put(url, { state_event: 'close' });
  assert.equal(await commit('maintainer', 'beans'), '403 403 Forbidden');
  assert.match((await push('HEAD:beans')).stderr, refused);
});
