import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitClient, remoteOf } from '../../../../../test/support/git.ts';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addBranch, addMergeRequest, worldWithTopic } from '../../../../../test/support/merge_requests.ts';
import { fileUrl, headOf, onMain } from '../../../../../test/support/repository.ts';
import type { Persona, World } from '../../../../../test/support/world.ts';
import { followMergeRequests, prepareMergeRequest } from '../versions/jobs.ts';
import { concludeMerges } from './jobs.ts';

const jobs = [prepareMergeRequest, followMergeRequests, concludeMerges];
const urlOf = ({ project }: World, iid = 1) => `/projects/${project.id}/merge_requests/${iid}`;

async function change(
  here: World,
  branch: string,
  file: string,
  content: string,
  project: { id: number } = here.project,
  by: Persona = 'maintainer',
) {
  const made = await here
    .as(by)
    .post(fileUrl(project, file), { ...onMain, branch, content, commit_message: `Add <${file}>` });
  assert.equal(made.status, 201, JSON.stringify(made.body));
}

test('the merge status follows both branches, and a push that merges a branch merges its merge requests', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  const status = async (iid = 1) => {
    const { merge_status, detailed_merge_status, has_conflicts } = (await as('reporter').get(urlOf(here, iid))).body;
    return [merge_status, detailed_merge_status, has_conflicts];
  };
  await addMergeRequest(here);
  assert.deepEqual(await status(), ['can_be_merged', 'mergeable', false], 'also before the job');
  await change(here, 'main', 'elsewhere.txt', 'x\n');
  assert.deepEqual(await status(), ['can_be_merged', 'mergeable', false]);
  await as('maintainer').put(`/projects/${project.id}`, { merge_method: 'ff' });
  assert.deepEqual(await status(), ['can_be_merged', 'need_rebase', false]);
  await as('maintainer').put(`/projects/${project.id}`, {
    merge_method: 'merge',
    only_allow_merge_if_pipeline_succeeds: true,
  });
  const report = async (state: string) =>
    assert.equal(
      (await as('developer').post(`/projects/${project.id}/statuses/${await headOf(here, 'topic')}`, { state })).status,
      201,
    );
  const seen: unknown[] = [];
  for (const state of [undefined, 'running', 'failed', 'skipped', 'success']) {
    if (state) await report(state);
    seen.push((await status())[1]);
  }
  assert.deepEqual(seen, ['ci_must_pass', 'ci_still_running', 'ci_must_pass', 'ci_must_pass', 'mergeable']);
  await report('skipped');
  await as('maintainer').put(`/projects/${project.id}`, { allow_merge_on_skipped_pipeline: true });
  assert.equal((await status())[1], 'mergeable');
  await change(here, 'main', 'topic.txt', 'another topic\n');
  assert.deepEqual(await status(), ['cannot_be_merged', 'conflict', true]);
  assert.deepEqual((await performQueued(here.services, jobs)).toSorted(), [
    'follow_branches',
    'follow_branches',
    'prepare_merge_request',
  ]);
  const listed = await here.db
    .selectFrom('merge_requests')
    .select('merge_status')
    .where('project_id', '=', project.id)
    .execute();
  assert.deepEqual(listed, [{ merge_status: 'cannot_be_merged' }]);

  await addBranch(here, 'second');
  await addMergeRequest(here, { source_branch: 'second', title: 'Second' });
  await addMergeRequest(here, { source_branch: 'main', target_branch: 'second', title: 'Nothing new' });
  assert.deepEqual(await status(3), ['cannot_be_merged', 'commits_status', true]);
  const client = await gitClient();
  const remote = remoteOf(here.url, project.full_path, here.people.maintainer.token);
  assert.equal((await client.run(['clone', '-q', remote, 'work'])).code, 0);
  const linked = await client.run(['push', 'origin', 'origin/main:refs/heads/new/one', '+origin/second:topic'], {
    at: 'work',
  });
  const page = `http://coppice.test/${project.full_path}/-/merge_requests`;
  assert.match(linked.stderr, new RegExp(`remote: View merge request for topic:\\s+remote:   ${page}/1 `));
  assert.ok(linked.stderr.includes(`${page}/new?merge_request%5Bsource_branch%5D=new%2Fone`), linked.stderr);
  await as('maintainer').put(`/projects/${project.id}`, { printing_merge_request_link_enabled: false });
  const silent = await client.run(['push', 'origin', ':new/one', 'origin/main:refs/heads/new/two'], { at: 'work' });
  assert.doesNotMatch(silent.stderr, /merge request/);
  const pushed = await client.run(['push', '-q', 'origin', 'origin/second:main'], { at: 'work' });
  assert.equal(pushed.code, 0, pushed.stderr);
  await performQueued(here.services, jobs);
  const merged = (await as('reporter').get(urlOf(here, 2))).body;
  assert.deepEqual(
    [merged.state, merged.merge_user.id, merged.merge_commit_sha, merged.detailed_merge_status],
    ['merged', here.people.maintainer.id, null, 'not_open'],
  );
  const events = here.db.selectFrom('events').select(['action', 'author_id']).where('target_type', '=', 'MergeRequest');
  assert.deepEqual(await events.where('target_id', '=', merged.id).orderBy('id').execute(), [
    { action: 'created', author_id: here.people.developer.id },
    { action: 'merged', author_id: here.people.maintainer.id },
  ]);
  assert.deepEqual(
    [(await as('reporter').get(urlOf(here, 1))).body.state, (await as('reporter').get(urlOf(here, 3))).body.state],
    ['opened', 'opened'],
  );
});
