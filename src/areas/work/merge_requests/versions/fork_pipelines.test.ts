import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addFork, settleMergeRequests } from '../../../../../test/support/merge_requests.ts';
import { built } from '../../../../../test/support/pipelines.ts';
import { sent } from '../../../../../test/support/sent.ts';

test('a member runs the pipeline of a merge request from a fork in the target project, if it allows that', async () => {
  const here = await built('theirs: {script: make, rules: [{if: $CI_MERGE_REQUEST_IID}]}');
  const { as, at, project, people } = here;
  await sent(as('maintainer').post(`${at}/variables`, { key: 'OURS', value: 'target' }));
  const fork = await addFork(here, 'reporter');
  const content = 'from-$[[ inputs.x ]]: {script: make, rules: [{if: $OURS == "target"}]}';
  await sent(
    as('reporter').post(`/projects/${fork.id}/repository/commits`, {
      ...{ branch: 'topic', start_branch: 'main', commit_message: 'Change' },
      actions: [
        {
          ...{ action: 'update', file_path: '.gitlab-ci.yml' },
          content: `spec: {inputs: {x: {default: fork}}}\n---\n${content}\n`,
        },
      ],
    }),
  );
  const asked = { source_branch: 'topic', target_branch: 'main', title: 'Change', target_project_id: project.id };
  const { iid } = await sent(as('reporter').post(`/projects/${fork.id}/merge_requests`, asked));
  await settleMergeRequests(here);
  const start = async (who: 'developer' | 'reporter') => {
    const { status, body } = await as(who).post(`${at}/merge_requests/${iid}/pipelines`);
    return { status, body };
  };
  const started = await start('developer');
  assert.deepEqual(
    [started.status, started.body.project_id, started.body.source, started.body.user?.id],
    [201, project.id, 'merge_request_event', people.developer.id],
  );
  assert.deepEqual(Object.keys(await here.statesOf(started.body.id)), ['from-fork']);
  const { body: head } = await as('developer').get(`${at}/merge_requests/${iid}`);
  assert.equal(head.sha, started.body.sha);
  // In the fork there is no such variable.
  assert.equal((await start('reporter')).status, 400);
  await sent(as('owner').put(at, { ci_allow_fork_pipelines_to_run_in_parent_project: false }));
  assert.equal((await start('developer')).status, 403);
});
