import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addBranch, addFork, addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { headOf, repositoryIn } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';
import { readCommit } from '../../../git/index.ts';

const listOf = ({ project }: { project: { id: number } }) => `/projects/${project.id}/merge_requests`;

const count = async ({ db, project }: World) =>
  (await db.selectFrom('merge_requests').select('id').where('project_id', '=', project.id).execute()).length;

test('a new merge request has all fields, its first version, and all requested values', async () => {
  const here = await worldWithTopic();
  const { project, people, db } = here;
  const milestone = await here.as('maintainer').post(`/projects/${project.id}/milestones`, { title: 'Spring' });
  const asked = {
    title: ' Draft: Sow the beans ',
    description: 'See @guest\n\n- [x] dig\n- [ ] sow',
    assignee_ids: [people.planner.id, people.reporter.id, people.outsider.id],
    reviewer_ids: [people.maintainer.id],
    labels: 'garden,beans',
    milestone_id: milestone.body.id,
    remove_source_branch: true,
    squash: true,
  };
  const body = await addMergeRequest(here, asked);
  const [head, start] = [await headOf(here, 'topic'), await headOf(here, 'main')];
  const { id, created_at, author, assignees, reviewers, milestone: shown, ...rest } = body;
  assert.deepEqual(rest, {
    iid: 1,
    project_id: project.id,
    title: 'Draft: Sow the beans',
    description: asked.description,
    state: 'opened',
    updated_at: created_at,
    merged_by: null,
    merge_user: null,
    merged_at: null,
    merge_after: null,
    closed_by: null,
    closed_at: null,
    prepared_at: created_at,
    target_branch: 'main',
    source_branch: 'topic',
    source_project_id: project.id,
    target_project_id: project.id,
    user_notes_count: 0,
    upvotes: 0,
    downvotes: 0,
    labels: ['beans', 'garden'],
    draft: true,
    work_in_progress: true,
    merge_when_pipeline_succeeds: false,
    merge_status: 'unchecked',
    detailed_merge_status: 'draft_status',
    has_conflicts: false,
    sha: head,
    merge_commit_sha: null,
    squash_commit_sha: null,
    discussion_locked: null,
    should_remove_source_branch: null,
    force_remove_source_branch: true,
    reference: '!1',
    references: { short: '!1', relative: '!1', full: `${project.full_path}!1` },
    web_url: `http://coppice.test/${project.full_path}/-/merge_requests/1`,
    time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null },
    squash: true,
    squash_on_merge: true,
    blocking_discussions_resolved: true,
    approvals_before_merge: null,
    task_completion_status: { count: 2, completed_count: 1 },
    ...{
      imported: false,
      imported_from: 'none',
      subscribed: true,
      changes_count: null,
      merge_error: null,
      first_contribution: true,
    },
    latest_build_started_at: null,
    latest_build_finished_at: null,
    first_deployed_to_production_at: null,
    pipeline: null,
    head_pipeline: null,
    diff_refs: { base_sha: start, head_sha: head, start_sha: start },
    user: { can_merge: false },
    assignee: assignees[0],
  });
  assert.deepEqual(
    [
      author.id,
      assignees.map((user: { id: number }) => user.id),
      reviewers.map((user: { id: number }) => user.id),
      shown.title,
    ],
    [people.developer.id, [people.reporter.id], [people.maintainer.id], 'Spring'],
    'a Planner does not read the code of a private project',
  );
  const todos = (await here.as('maintainer').get('/todos')).body;
  assert.deepEqual(
    todos.map(({ action_name, target }: { action_name: string; target: { id: number } }) => [action_name, target.id]),
    [['review_requested', id]],
  );
  const events = await db
    .selectFrom('events')
    .select('action')
    .where('target_type', '=', 'MergeRequest')
    .where('target_id', '=', id)
    .execute();
  assert.deepEqual(events, [{ action: 'created' }]);
  assert.deepEqual((await here.as('reporter').get(`${listOf(here)}/1`)).body.title, 'Draft: Sow the beans');
  assert.equal((await here.as('planner').get(`${listOf(here)}/1`)).status, 404);
});

test('invalid branches and values are refused, and no merge request is created', async () => {
  const here = await worldWithTopic();
  const usual = { title: 'Sow', source_branch: 'topic', target_branch: 'main' };
  const asked = async (parameters: object, by: 'developer' | 'reporter' = 'developer') => {
    const { status, body } = await here.as(by).post(listOf(here), parameters as Record<string, unknown>);
    return [status, body.message];
  };
  assert.deepEqual(await asked({}), [400, 'title is missing, source_branch is missing, target_branch is missing']);
  assert.deepEqual(await asked({ ...usual, source_branch: 'none' }), [400, { source_branch: ['does not exist'] }]);
  assert.deepEqual(await asked({ ...usual, target_branch: 'none' }), [400, { target_branch: ['does not exist'] }]);
  assert.deepEqual(await asked({ ...usual, target_branch: ' ' }), [
    400,
    { target_branch: ["can't be blank", 'is invalid'] },
  ]);
  assert.deepEqual(await asked({ ...usual, title: ' ' }), [400, { title: ["can't be blank"] }]);
  assert.deepEqual(await asked({ ...usual, source_branch: 'main' }), [
    409,
    ["You can't use same project/branch for source and target"],
  ]);
  assert.deepEqual(await asked({ ...usual, target_project_id: 0 }), [404, '404 Project Not Found']);
  assert.deepEqual(await asked({ ...usual, milestone_id: 4_000_000_000 }), [404, '404 Milestone Not Found']);
  assert.deepEqual(await asked(usual, 'reporter'), [403, '403 Forbidden']);
  assert.equal(await count(here), 0);
  const { iid } = await addMergeRequest(here);
  assert.deepEqual(await asked(usual), [
    409,
    [`Another open merge request already exists for this source branch: !${iid}`],
  ]);
  assert.equal(await count(here), 1);
  await here.as('owner').put(`/projects/${here.project.id}`, { merge_requests_access_level: 'disabled' });
  await addBranch(here, 'other');
  assert.deepEqual(await asked({ ...usual, source_branch: 'other' }), [403, '403 Forbidden']);
  assert.equal((await here.as('developer').get(`${listOf(here)}/${iid}`)).status, 403);
});

test('a branch of a fork can be merged into its source and into other forks, and private forks stay hidden', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  const fork = await addFork(here, 'reporter', project, { path: 'mine' });
  const sibling = await addFork(here, 'developer', project, { path: 'theirs' });
  await addBranch(here, 'from-fork', fork, 'reporter');
  const usual = { title: 'From a fork', source_branch: 'from-fork', target_branch: 'main' };
  const created = await as('reporter').post(listOf({ project: fork }), {
    ...usual,
    target_project_id: project.id,
    allow_collaboration: true,
  });
  assert.equal(created.status, 201, JSON.stringify(created.body));
  const { iid, sha, source_project_id, target_project_id, allow_collaboration } = created.body;
  assert.deepEqual([source_project_id, target_project_id, allow_collaboration], [fork.id, project.id, true]);
  assert.equal((await readCommit(repositoryIn(here), sha)).id, sha, 'the target has the commit');
  const seen = (await as('developer').get(`${listOf(here)}/${iid}`)).body;
  assert.deepEqual(
    [seen.source_project_id, seen.sha],
    [null, sha],
    'the fork is private, and the developer is no member',
  );
  const toSibling = { ...usual, target_project_id: sibling.id };
  assert.equal(
    (await as('reporter').post(listOf({ project: fork }), toSibling)).status,
    404,
    'a private sibling is hidden',
  );
  const member = { user_id: here.people.reporter.id, access_level: 20 };
  assert.equal((await as('developer').post(`/projects/${sibling.id}/members`, member)).status, 201);
  assert.equal((await as('reporter').post(listOf({ project: fork }), toSibling)).status, 201);
  const own = (await as('reporter').post('/projects', { name: 'Alone', initialize_with_readme: true })).body;
  const unrelated = await as('reporter').post(listOf({ project: own }), {
    ...usual,
    source_branch: 'main',
    target_project_id: project.id,
  });
  assert.deepEqual(
    [unrelated.status, unrelated.body.message],
    [422, ['Source project is not a fork of the target project']],
  );
  await as('owner').put(`/projects/${project.id}`, { merge_requests_access_level: 'disabled' });
  const refused = await as('reporter').post(listOf({ project: fork }), { ...usual, target_project_id: project.id });
  assert.deepEqual([refused.status, refused.body.message], [422, ['Target project has disabled merge requests']]);
  assert.equal(await count(here), 1);
});
