import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { addBranch, addFork, addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { headOf } from '../../../../test/support/repository.ts';
import type { World } from '../../../../test/support/world.ts';

const one = ({ project }: World, iid = 1) => `/projects/${project.id}/merge_requests/${iid}`;

/** The system notes of a merge request, oldest first. */
const notesOn = async ({ db }: World, merge_request_id: number) =>
  (
    await db
      .selectFrom('notes')
      .select('body')
      .where('merge_request_id', '=', merge_request_id)
      .where('system', '=', true)
      .orderBy('id')
      .execute()
  ).map(({ body }) => body);

const versionsOf = ({ db }: World, id: number) =>
  db
    .selectFrom('merge_request_versions')
    .select(['head_commit_sha', 'start_commit_sha'])
    .where('merge_request_id', '=', id)
    .orderBy('id')
    .execute();

test('authorized users make every change of a merge request, and each has a system note', async () => {
  const here = await worldWithTopic();
  const { as, people, project } = here;
  const { id } = await addMergeRequest(here, { title: 'Draft: Sow the beans' });
  const none = await as('developer').put(one(here), {});
  const names =
    'assignee_id, assignee_ids, reviewer_ids, description, labels, add_labels, remove_labels, milestone_id, remove_source_branch, allow_collaboration, allow_maintainer_to_push, squash, target_branch, title, state_event, discussion_locked, merge_after';
  assert.deepEqual(
    [none.status, none.body.message],
    [400, `${names} are missing, at least one parameter must be provided`],
  );
  assert.equal((await as('reporter').put(one(here), { title: 'Mine' })).status, 403);
  assert.equal((await as('planner').put(one(here), { title: 'Mine' })).status, 404, 'Planners do not read it');
  assert.equal((await as('developer').put(one(here), { title: ' ' })).body.message, 'title is empty');
  const outsider = await as('developer').put(one(here), { reviewer_ids: [people.outsider.id] });
  assert.deepEqual([outsider.status, outsider.body.reviewers], [200, []], 'who cannot read it is left out');
  assert.deepEqual(await notesOn(here, id), []);
  const milestone = (await as('maintainer').post(`/projects/${project.id}/milestones`, { title: 'Spring' })).body;
  const { status, body } = await as('developer').put(one(here), {
    title: 'Sow the peas',
    description: 'Now',
    assignee_ids: [people.outsider.id, people.reporter.id],
    reviewer_ids: [people.maintainer.id, people.outsider.id],
    milestone_id: milestone.id,
    add_labels: 'garden',
    discussion_locked: true,
    squash: true,
    remove_source_branch: true,
    merge_after: '2030-01-01T00:00:00Z',
  });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    [body.draft, body.squash, body.force_remove_source_branch, body.merge_after, body.labels, body.milestone.title],
    [false, true, true, '2030-01-01T00:00:00.000Z', ['garden'], 'Spring'],
  );
  assert.equal(
    (await as('reporter').put(one(here), { remove_labels: 'garden', reviewer_ids: '' })).status,
    200,
    'an assignee',
  );
  assert.deepEqual(await notesOn(here, id), [
    'changed title from **Sow the {-bean-}s** to **Sow the {+pea+}s**',
    'changed the description',
    'locked the discussion in this merge request',
    'marked this merge request as **ready**',
    `assigned to @${people.reporter.username}`,
    `requested review from @${people.maintainer.username}`,
    `removed review request for @${people.maintainer.username}`,
  ]);
  const labels = (await as('reporter').get(`${one(here)}/resource_label_events`)).body;
  assert.deepEqual(
    labels.map((event: { action: string; resource_type: string }) => [event.action, event.resource_type]),
    [
      ['add', 'MergeRequest'],
      ['remove', 'MergeRequest'],
    ],
  );
  const milestones = (await as('reporter').get(`${one(here)}/resource_milestone_events`)).body;
  assert.deepEqual([milestones[0].milestone.title, milestones[0].state], ['Spring', 'opened']);
});

test('a merge request is closed and reopened, unless another one is open for the same branches', async () => {
  const here = await worldWithTopic();
  const { as, db } = here;
  const { id } = await addMergeRequest(here);
  const closed = await as('developer').put(one(here), { state_event: 'close' });
  assert.deepEqual([closed.body.state, closed.body.closed_by.id], ['closed', here.people.developer.id]);
  assert.equal(closed.body.detailed_merge_status, 'not_open');
  const second = await addMergeRequest(here);
  const beside = await as('developer').put(one(here), { state_event: 'reopen' });
  const text = `Another open merge request already exists for this source branch: !${second.iid}`;
  assert.deepEqual([beside.status, beside.body.message], [409, [text]]);
  await as('developer').put(one(here, second.iid), { state_event: 'close' });
  await as('maintainer').post(`/projects/${here.project.id}/repository/commits`, {
    branch: 'topic',
    commit_message: 'More',
    actions: [{ action: 'create', file_path: 'more.txt', content: 'more' }],
  });
  const reopened = await as('developer').put(one(here), { state_event: 'reopen' });
  assert.deepEqual(
    [reopened.body.state, reopened.body.closed_at, reopened.body.sha],
    ['opened', null, await headOf(here, 'topic')],
  );
  assert.equal((await versionsOf(here, id)).at(-1)?.head_commit_sha, reopened.body.sha);
  const states = (await as('reporter').get(`${one(here)}/resource_state_events`)).body;
  assert.deepEqual(
    states.map(({ state }: { state: string }) => state),
    ['closed', 'reopened'],
  );
  const events = (
    await as('reporter').get(`/projects/${here.project.id}/events`, { target_type: 'merge_request', sort: 'asc' })
  ).body;
  assert.deepEqual(
    events.map((event: { action_name: string; target_iid: number }) => [event.action_name, event.target_iid]),
    [
      ['opened', 1],
      ['closed', 1],
      ['opened', 2],
      ['closed', 2],
      ['opened', 1],
    ],
  );
  assert.equal((await as('maintainer').delete(one(here))).status, 403);
  assert.equal(
    (await as('owner').delete(one(here), {}, { headers: { 'if-unmodified-since': new Date(0).toUTCString() } })).status,
    412,
  );
  assert.equal((await as('owner').delete(one(here))).status, 204);
  assert.equal((await as('owner').get(one(here))).status, 404);
  const left = await db.selectFrom('merge_request_versions').select('id').where('merge_request_id', '=', id).execute();
  assert.deepEqual(left, []);
});

test('a new target branch must exist, be free and differ from the source, and creates a version; without its fork a merge request stays closed', async () => {
  const here = await worldWithTopic();
  const { as, db } = here;
  await addBranch(here, 'release');
  const { id } = await addMergeRequest(here);
  const other = await addMergeRequest(here, { target_branch: 'release' });
  const asked = async (target_branch: string, iid = 1) => as('developer').put(one(here, iid), { target_branch });
  assert.deepEqual((await asked('none')).body.message, { target_branch: ['does not exist'] });
  assert.equal((await asked('release')).status, 409);
  const own = await asked('topic');
  assert.deepEqual([own.status, own.body.message], [409, ["You can't use same project/branch for source and target"]]);
  assert.equal((await as('developer').get(one(here))).body.target_branch, 'main');
  await as('developer').put(one(here, other.iid), { state_event: 'close' });
  const moved = await asked('release');
  assert.deepEqual([moved.status, moved.body.target_branch], [200, 'release']);
  assert.deepEqual(await notesOn(here, id), ['changed target branch from `main` to `release`']);
  assert.equal((await versionsOf(here, id)).at(-1)?.start_commit_sha, await headOf(here, 'release'));
  await db.updateTable('merge_requests').set({ state: 'merged' }).where('id', '=', id).execute();
  assert.deepEqual((await asked('main')).body.message, { target_branch: ['cannot be changed'] });
  const fork = await addFork(here, 'reporter', here.project, { path: 'gone' });
  const from = { title: 'Theirs', source_branch: 'topic', target_branch: 'main', target_project_id: here.project.id };
  const { iid } = (await as('reporter').post(`/projects/${fork.id}/merge_requests`, from)).body;
  await as('reporter').put(one(here, iid), { state_event: 'close' });
  await db.deleteFrom('projects').where('id', '=', fork.id).execute();
  const reopened = await as('reporter').put(one(here, iid), { state_event: 'reopen' });
  assert.deepEqual([reopened.status, reopened.body.message], [400, { source_branch: ['does not exist'] }]);
  assert.deepEqual((await as('reporter').get(one(here, iid))).body.source_project_id, null);
});

test('a merge request supports comments, reactions, subscriptions, time tracking and to-do items like an issue', async () => {
  const here = await worldWithTopic();
  const { as, people } = here;
  const { id } = await addMergeRequest(here, { description: `By @${people.reporter.username}` });
  const note = await as('reporter').post(`${one(here)}/notes`, { body: 'Why?' });
  assert.deepEqual(
    [note.status, note.body.noteable_type, note.body.noteable_iid, note.body.noteable_id],
    [201, 'MergeRequest', 1, id],
  );
  assert.equal(
    (await as('planner').post(`${one(here)}/notes`, { body: 'Why?' })).body.message,
    '404 MergeRequest Not Found',
  );
  const thread = await as('reporter').post(`${one(here)}/discussions`, { body: 'A thread' });
  const reply = await as('developer').post(`${one(here)}/discussions/${thread.body.id}/notes`, { body: 'A reply' });
  assert.deepEqual([thread.status, reply.status, reply.body.type], [201, 201, 'DiscussionNote']);
  assert.equal((await as('reporter').post(`${one(here)}/award_emoji`, { name: 'thumbsup' })).status, 201);
  assert.equal((await as('reporter').post(`${one(here)}/todo`)).status, 201);
  assert.equal((await as('maintainer').post(`${one(here)}/subscribe`)).body.subscribed, true);
  assert.equal((await as('maintainer').post(`${one(here)}/subscribe`)).status, 304);
  assert.equal((await as('reporter').post(`${one(here)}/time_estimate`, { duration: '1h' })).status, 403);
  assert.equal((await as('developer').post(`${one(here)}/time_estimate`, { duration: '2h' })).body.time_estimate, 7200);
  assert.equal(
    (await as('developer').post(`${one(here)}/add_spent_time`, { duration: '30m' })).body.total_time_spent,
    1800,
  );
  const { body } = await as('reporter').get(one(here));
  assert.deepEqual([body.user_notes_count, body.upvotes, body.time_stats.human_time_estimate], [3, 1, '2h']);
  const participants = (await as('reporter').get(`${one(here)}/participants`)).body;
  assert.deepEqual(
    participants.map((user: { id: number }) => user.id).sort(),
    [people.reporter.id, people.developer.id].sort(),
  );
  const todos = (await as('reporter').get('/todos', { type: 'MergeRequest' })).body;
  assert.deepEqual([todos.length, todos[0].target_type, todos[0].target.iid], [1, 'MergeRequest', 1]);
  const [listed] = (await as('reporter').get('/merge_requests', { scope: 'all', iids: [1] })).body;
  assert.deepEqual(
    Object.keys(todos[0].target).sort(),
    Object.keys(listed).sort(),
    'the target has the members of lists only',
  );
});

test('texts refer to merge requests, and merge requests to issues', async () => {
  const here = await worldWithTopic();
  const { as, project } = here;
  const issue = await addIssue(here);
  const { id } = await addMergeRequest(here, { description: `See #${issue.iid}` });
  const notes = await as('reporter').get(`/projects/${project.id}/issues/${issue.iid}/notes`);
  assert.deepEqual(
    notes.body.map(({ body }: { body: string }) => body),
    ['mentioned in merge request !1'],
  );
  const hidden = await as('guest').get(`/projects/${project.id}/issues/${issue.iid}/notes`);
  assert.deepEqual(hidden.body, [], 'guests do not read the merge request');
  await as('owner').post(`/projects/${project.id}/issues/${issue.iid}/notes`, { body: 'Solved by !1' });
  assert.deepEqual(await notesOn(here, id), [`mentioned in issue #${issue.iid}`]);
  const text = { text: 'See !1', gfm: true, project: project.full_path };
  const address = `http://coppice.test/${project.full_path}/-/merge_requests/1`;
  assert.match((await as('reporter').post('/markdown', text)).body.html, new RegExp(`href="${address}"`));
  assert.doesNotMatch((await as('guest').post('/markdown', text)).body.html, /href/);

  const shown = (await as('reporter').get(`/projects/${project.id}/merge_requests/1`, { render_html: true })).body;
  const link = `<a href="http://coppice.test/${project.full_path}/-/issues/${issue.iid}">#${issue.iid}</a>`;
  assert.deepEqual([shown.title_html, shown.description_html], ['Sow the beans', `<p>See ${link}</p>\n`]);
});

test('quick actions change a merge request if the caller may', async () => {
  const here = await worldWithTopic();
  const { as, people, db } = here;
  await addBranch(here, 'release');
  const { id, reviewers, draft } = await addMergeRequest(here, {
    description: `Text\n/draft\n/assign_reviewer @${people.reporter.username}\n/approve`,
  });
  assert.deepEqual([reviewers[0].id, draft], [people.reporter.id, true]);
  const say = async (body: string, by: 'developer' | 'reporter' = 'developer') =>
    (await as(by).post(`${one(here)}/notes`, { body })).body;
  assert.deepEqual((await say('/ready\n/target_branch release\n/label ~none')).summary, [
    'Marked this merge request as ready.',
    'Set target branch to release.',
    'Could not apply label command.',
  ]);
  assert.deepEqual((await say('/draft', 'reporter')).message, '400 Bad request - Failed to apply commands.');
  for (const branch of ['none', 'topic'])
    assert.deepEqual((await say(`/target_branch ${branch}`)).message, '400 Bad request - Failed to apply commands.');
  await db
    .updateTable('merge_request_reviewers')
    .set({ state: 'approved' })
    .where('merge_request_id', '=', id)
    .execute();
  const asked = await say(`/request_review @${people.reporter.username}`);
  assert.deepEqual(asked.summary, [`Requested a review from @${people.reporter.username}.`]);
  const states = (await as('reporter').get(`${one(here)}/reviewers`)).body;
  assert.deepEqual(
    states.map((reviewer: { user: { id: number }; state: string }) => [reviewer.user.id, reviewer.state]),
    [[people.reporter.id, 'unreviewed']],
  );
  assert.deepEqual(
    (await say(`/unassign_reviewer\n/reassign_reviewer @${people.maintainer.username}\n/close`)).summary,
    [
      `Removed reviewer @${people.reporter.username}.`,
      `Changed the reviewers to @${people.maintainer.username}.`,
      'Closed this merge request.',
    ],
  );
  const { body } = await as('developer').get(one(here));
  assert.deepEqual(
    [body.title, body.target_branch, body.state, body.reviewers[0].id],
    ['Sow the beans', 'release', 'closed', people.maintainer.id],
  );
});
