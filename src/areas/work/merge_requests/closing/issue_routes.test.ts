import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../../test/support/issues.ts';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import { fileUrl, onMain } from '../../../../../test/support/repository.ts';
import type { Persona } from '../../../../../test/support/world.ts';
import { concludeMerges } from '../merging/jobs.ts';
import { followMergeRequests, prepareMergeRequest } from '../versions/jobs.ts';
import { openMergeRequest } from './issue_jobs.ts';
import { readClosedIssues } from './jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests, concludeMerges, readClosedIssues];

test('a merge request and the issues that it closes or mentions show each other, to callers who may read both', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  const received = await addIssue(here, { title: 'Told' });
  const committed = await addIssue(here, { title: 'Committed' });
  const mentioned = await addIssue(here, { title: 'Mentioned' });
  const secret = await addIssue(here, { title: 'Secret', confidential: true });
  const url = `/projects/${project.id}`;
  const merging = await addMergeRequest(here, {
    description: `Closes #${received.iid} and #${secret.iid}, see #${mentioned.iid}`,
  });
  const ofIssue = (issue: { iid: number }, name: string) => `${url}/issues/${issue.iid}/${name}`;
  const titles = async (path: string, by: 'reporter' | 'developer' | 'guest' = 'developer') =>
    (await as(by).get(path)).body.map(({ title }: { title: string }) => title);
  const closes = `${url}/merge_requests/${merging.iid}/closes_issues`;
  const related = `${url}/merge_requests/${merging.iid}/related_issues`;

  assert.deepEqual(await titles(closes), ['Secret', 'Told'], 'before any job has run');
  const change = { ...onMain, branch: 'topic', content: 'x', commit_message: `Sow\n\nFixes #${committed.iid}` };
  assert.equal((await as('maintainer').post(fileUrl(project, 'sown.txt'), change)).status, 201);
  await performQueued(here.services, jobs);
  assert.deepEqual(await titles(closes), ['Secret', 'Committed', 'Told']);
  assert.deepEqual(await titles(related), ['Secret', 'Mentioned', 'Committed', 'Told']);
  for (const [issue, [byClosing, byMention]] of [
    [received, [1, 1]],
    [committed, [1, 1]],
    [mentioned, [0, 1]],
  ] as const) {
    assert.equal((await titles(ofIssue(issue, 'closed_by'))).length, byClosing, issue.title);
    assert.equal((await titles(ofIssue(issue, 'related_merge_requests'))).length, byMention, issue.title);
    for (const [by, expected] of [
      ['reporter', byClosing],
      ['guest', 0],
    ] as const)
      assert.equal((await as(by).get(`${url}/issues/${issue.iid}`)).body.merge_requests_count, expected, by);
  }
  for (const name of ['closed_by', 'related_merge_requests'])
    assert.deepEqual(
      await titles(ofIssue(received, name), 'guest'),
      [],
      'guests do not read merge requests of a private project',
    );
  assert.equal((await as('guest').get(closes)).status, 404);

  const edited = await as('developer').put(`${url}/merge_requests/${merging.iid}`, {
    description: `Closes #${mentioned.iid}`,
  });
  assert.equal(edited.status, 200);
  await performQueued(here.services, jobs);
  assert.deepEqual(await titles(closes), ['Mentioned', 'Committed']);
  assert.equal((await as('maintainer').put(`${url}/merge_requests/${merging.iid}/merge`)).status, 200);
  await performQueued(here.services, jobs);
  assert.equal((await as('guest').get(`${url}/issues/${mentioned.iid}`)).body.state, 'closed');
  assert.deepEqual(await titles(ofIssue(mentioned, 'closed_by')), [merging.title]);
  assert.equal((await as('maintainer').put(url, { autoclose_referenced_issues: false })).status, 200);
  assert.equal(
    (await as('maintainer').post(`${url}/repository/branches`, { branch: 'other', ref: 'main' })).status,
    201,
  );
  const idle = await addMergeRequest(here, { source_branch: 'other', description: `Closes #${received.iid}` });
  assert.deepEqual(await titles(`${url}/merge_requests/${idle.iid}/closes_issues`), []);
});

test('comments, blocked issues and closing merge requests are counted for callers who may read them', async () => {
  const here = await worldWithTopic();
  const { as, db, group, project } = here;
  const url = `/projects/${project.id}`;
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
  await as('owner').put(url, {
    visibility: 'public',
    repository_access_level: 'private',
    merge_requests_access_level: 'private',
  });
  const issue = await addIssue(here, { title: 'Shown' });
  for (const confidential of [false, true]) {
    const blocked = await addIssue(here, { confidential });
    const link = { target_project_id: project.id, target_issue_iid: blocked.iid, link_type: 'blocks' };
    assert.equal((await as('reporter').post(`${url}/issues/${issue.iid}/links`, link)).status, 201);
  }
  const merging = await addMergeRequest(here, { description: `Closes #${issue.iid}` });
  for (const on of [`issues/${issue.iid}`, `merge_requests/${merging.iid}`])
    for (const internal of [true, true, false]) {
      const { status } = await as('developer').post(`${url}/${on}/notes`, { body: 'Water it.', internal });
      assert.equal(status, 201);
    }

  const counts = async (by: Persona | 'anonymous') => {
    const single = (await as(by).get(`${url}/issues/${issue.iid}`)).body;
    const listed = (await as(by).get(`${url}/issues`, { scope: 'all', 'iids[]': issue.iid })).body;
    const counted = [single, ...listed].map((shown) => [
      shown.user_notes_count,
      shown.blocking_issues_count,
      shown.merge_requests_count,
    ]);
    assert.equal(counted.length, 2);
    assert.deepEqual(counted[0], counted[1], 'a list counts as the issue does');
    return counted[0];
  };
  for (const by of ['anonymous', 'outsider', 'guest'] as const) assert.deepEqual(await counts(by), [1, 1, 0], by);
  for (const by of ['reporter', 'developer', 'admin'] as const) assert.deepEqual(await counts(by), [3, 2, 1], by);

  await as('owner').put(url, { repository_access_level: 'enabled', merge_requests_access_level: 'enabled' });
  for (const by of ['anonymous', 'guest'] as const) assert.deepEqual(await counts(by), [1, 1, 1], by);
  for (const [by, expected] of [
    ['anonymous', 1],
    ['guest', 1],
    ['developer', 3],
  ] as const) {
    const own = `${url}/merge_requests`;
    const shown = [(await as(by).get(`${own}/${merging.iid}`)).body, ...(await as(by).get(own)).body];
    assert.deepEqual(
      shown.map(({ user_notes_count }) => user_notes_count),
      [expected, expected],
      by,
    );
  }
});

test('/create_merge_request creates a branch and a merge request that closes the issue, for users who may push', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  const url = `/projects/${project.id}`;
  const issue = await addIssue(here, { title: 'Prune the trees' });
  const ask = (by: 'developer' | 'reporter', command = '/create_merge_request') =>
    as(by).post(`${url}/issues/${issue.iid}/notes`, { body: command });
  const merging = async () => (await as('developer').get(`${url}/merge_requests`)).body as Record<string, unknown>[];

  assert.equal((await ask('reporter')).status, 400);
  assert.equal((await ask('developer', '/create_merge_request not..valid')).status, 400);
  assert.equal((await ask('developer')).status, 202);
  assert.equal((await ask('developer')).status, 202, 'the branch exists when the second job runs');
  await performQueued(here.services, [openMergeRequest, ...jobs]);
  const shown = (await merging()).map(({ title, source_branch, target_branch, assignees, draft }) => [
    ...[title, source_branch, target_branch, draft],
    (assignees as { id: number }[]).map(({ id }) => id),
  ]);
  const branch = `${issue.iid}-prune-the-trees`;
  assert.deepEqual(shown, [['Draft: Resolve "Prune the trees"', branch, 'main', true, [here.people.developer.id]]]);
  assert.equal((await as('developer').get(`${url}/issues/${issue.iid}`)).body.merge_requests_count, 1);
  assert.equal((await ask('developer', '/create_merge_request pruning')).status, 202);
  await performQueued(here.services, [openMergeRequest, ...jobs]);
  assert.equal((await merging()).length, 2);
});
