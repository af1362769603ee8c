import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../../test/support/git.ts';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addBranch, addFork, addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import { fileUrl, headOf, onMain, repositoryIn } from '../../../../../test/support/repository.ts';
import type { World } from '../../../../../test/support/world.ts';
import { git, keepAroundRef } from '../../../../git/index.ts';
import { concludeMerges } from '../merging/jobs.ts';
import { followMergeRequests, prepareMergeRequest } from './jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests, concludeMerges];
const urlOf = ({ project }: World, iid = 1) => `/projects/${project.id}/merge_requests/${iid}`;

async function change(here: World, branch: string, file: string, content: string) {
  const about = { ...onMain, branch, content, commit_message: `Add <${file}>` };
  assert.equal((await here.as('maintainer').post(fileUrl(here.project, file), about)).status, 201);
}

const notesOn = async (here: World, iid = 1) =>
  (
    await here.db
      .selectFrom('notes')
      .innerJoin('merge_requests', 'merge_requests.id', 'notes.merge_request_id')
      .select(['body', 'notes.author_id'])
      .where('merge_requests.project_id', '=', here.project.id)
      .where('iid', '=', iid)
      .where('system', '=', true)
      .orderBy('notes.id')
      .execute()
  ).map(({ body, author_id }) => [author_id, body]);

const refsIn = async (here: World, prefix: string) =>
  (await git(repositoryIn(here), 'for-each-ref', ['--format=%(objectname) %(refname)'], [prefix]))
    .toString()
    .split('\n')
    .slice(0, -1);

test('a merge request shows its commits, its diffs and its versions, which a push adds to', async () => {
  const here = await worldWithTopic();
  const { as, people } = here;
  const url = urlOf(here);
  await change(here, 'topic', 'more.txt', 'more\n');
  await addMergeRequest(here);
  assert.deepEqual(await performQueued(here.services, jobs), ['prepare_merge_request']);
  const [first, base] = [(await headOf(here, 'topic'))!, (await headOf(here, 'main'))!];

  const commits = await as('reporter').get(`${url}/commits`, { per_page: 1 });
  assert.deepEqual(
    commits.body.map(({ id, title }: { id: string; title: string }) => [id, title]),
    [[first, 'Add <more.txt>']],
  );
  assert.deepEqual([commits.headers.get('x-total'), commits.headers.get('x-next-page')], ['2', '2']);
  assert.equal((await as('reporter').get(`${url}/commits`, { page: 2, per_page: 1 })).body[0].title, 'Change a file');

  const diffs = await as('reporter').get(`${url}/diffs`, { per_page: 1, unidiff: true });
  assert.deepEqual([diffs.body.length, diffs.headers.get('x-total')], [1, '2']);
  assert.equal(diffs.body[0].diff, '--- /dev/null\n+++ b/more.txt\n@@ -0,0 +1 @@\n+more\n');
  const changes = await as('reporter').get(`${url}/changes`);
  assert.deepEqual(
    [
      changes.body.iid,
      changes.body.overflow,
      changes.body.changes.map(({ new_path }: { new_path: string }) => new_path),
    ],
    [1, false, ['more.txt', 'topic.txt']],
  );
  const raw = await as('reporter').get(`${url}/raw_diffs`);
  assert.match(raw.body, /^diff --git a\/more\.txt b\/more\.txt\nnew file mode 100644\n/);
  assert.match(raw.body, /\+\+\+ b\/topic\.txt\n@@ -0,0 \+1 @@\n\+topic\n$/);
  assert.deepEqual((await as('reporter').get(`${url}/pipelines`)).body, []);
  const refused = await as('developer').post(`${url}/pipelines`);
  assert.deepEqual([refused.status, refused.body.message], [400, { base: ['Missing CI config file'] }]);

  const shown = (await as('reporter').get(url)).body;
  assert.deepEqual([shown.sha, shown.changes_count, shown.detailed_merge_status], [first, '2', 'mergeable']);
  const [version] = (await as('reporter').get(`${url}/versions`)).body;
  const { id, created_at: _, patch_id_sha, ...rest } = version;
  assert.deepEqual(rest, {
    head_commit_sha: first,
    base_commit_sha: base,
    start_commit_sha: base,
    merge_request_id: shown.id,
    state: 'collected',
    real_size: '2',
  });
  assert.match(patch_id_sha, /^[0-9a-f]{40}$/);
  const detail = (await as('reporter').get(`${url}/versions/${id}`)).body;
  assert.deepEqual([detail.commits.length, detail.diffs.length, detail.patch_id_sha], [2, 2, patch_id_sha]);
  assert.deepEqual(await refsIn(here, 'refs/merge-requests/'), [`${first} refs/merge-requests/1/head`]);

  await change(here, 'topic', 'third.txt', 'third\n');
  assert.deepEqual(await performQueued(here.services, jobs), ['follow_branches']);
  const second = (await headOf(here, 'topic'))!;
  const versions = (await as('reporter').get(`${url}/versions`)).body;
  assert.deepEqual(
    versions.map((one: { head_commit_sha: string; real_size: string }) => [one.head_commit_sha, one.real_size]),
    [
      [second, '3'],
      [first, '2'],
    ],
  );
  const page = `http://coppice.test/${here.project.full_path}/-/merge_requests/1/diffs?diff_id=${versions[0].id}&start_sha=${first}`;
  const added = `added 1 commit\n\n<ul><li>${second.slice(0, 8)} - Add &lt;third.txt&gt;</li></ul>\n\n[Compare with previous version](${page})`;
  assert.deepEqual(await notesOn(here), [[people.maintainer.id, added]]);
  assert.equal((await as('reporter').get(url)).body.sha, second);
  assert.deepEqual(await refsIn(here, 'refs/merge-requests/'), [`${second} refs/merge-requests/1/head`]);
  assert.deepEqual(
    (await refsIn(here, 'refs/keep-around/')).map((line) => line.split(' ')[1]),
    [first, second, base].toSorted().map(keepAroundRef),
    'the commits of earlier versions stay',
  );
  const client = await gitClient();
  const remote = remoteOf(here.url, here.project.full_path, people.reporter.token);
  assert.equal((await client.run(['init', '-q', 'work'])).code, 0);
  const fetched = await client.run(['fetch', '-q', remote, 'refs/merge-requests/1/head:proposal'], { at: 'work' });
  assert.equal(fetched.code, 0, fetched.stderr);
  assert.equal((await client.run(['rev-parse', 'proposal'], { at: 'work' })).stdout.trim(), second);

  // Twice changes nothing, and callers who may not read it learn nothing.
  await followMergeRequests.enqueue(here.db, {
    project_id: here.project.id,
    user_id: null,
    branches: ['topic', 'main'],
  });
  await performQueued(here.services, jobs);
  assert.equal((await as('reporter').get(`${url}/versions`)).body.length, 2);
  for (const part of ['commits', 'changes', 'diffs', 'raw_diffs', 'versions', `versions/${id}`, 'pipelines'])
    assert.equal((await as('guest').get(`${url}/${part}`)).status, 404, part);
  assert.equal((await as('reporter').get(`${url}/versions/${id + 1000}`)).status, 404);

  await as('maintainer').delete(`/projects/${here.project.id}/repository/branches/topic`);
  await performQueued(here.services, jobs);
  assert.equal((await as('reporter').get(url)).body.detailed_merge_status, 'commits_status');
  assert.equal((await as('reporter').get(`${url}/commits`)).body.length, 3, 'what it changed is still there');
  await as('maintainer').post(`/projects/${here.project.id}/repository/branches`, { branch: 'topic', ref: second });
  await performQueued(here.services, jobs);
  assert.deepEqual(
    (await notesOn(here)).slice(1).map(([, body]) => body),
    ['deleted source branch `topic`', 'restored source branch `topic`'],
  );
  assert.equal((await as('reporter').get(url)).body.detailed_merge_status, 'mergeable');
});

test('pushes to a fork are followed in the target, even if the fork is hidden', async () => {
  const here = await worldWithTopic();
  const { as } = here;
  const fork = await addFork(here, 'developer');
  await addBranch(here, 'proposal', fork, 'developer');
  const asked = {
    title: 'From a fork',
    source_branch: 'proposal',
    target_branch: 'main',
    target_project_id: here.project.id,
  };
  assert.equal((await as('developer').post(`/projects/${fork.id}/merge_requests`, asked)).status, 201);
  const more = { ...onMain, branch: 'proposal', content: 'more\n' };
  assert.equal((await as('developer').post(fileUrl(fork, 'more.txt'), more)).status, 201);
  await performQueued(here.services, jobs);
  const { body } = await as('reporter').get(`${urlOf(here)}/versions`);
  assert.equal(body.length, 2);
  assert.deepEqual(await refsIn(here, 'refs/merge-requests/'), [
    `${body[0].head_commit_sha} refs/merge-requests/1/head`,
  ]);
  assert.equal((await as('reporter').get(`${urlOf(here)}/commits`)).body.length, 2);
  assert.equal((await as('reporter').get(`/projects/${fork.id}`)).status, 404);
});
