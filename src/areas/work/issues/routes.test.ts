import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addIssue } from '../../../../test/support/issues.ts';
import { oddTexts, oddValues } from '../../../../test/support/odd_values.ts';
import { randomFrom, seedOfToday } from '../../../../test/support/random.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { today } from '../../../cron/index.ts';
import { editInput, newIssueInput } from './parameters.ts';

const issuesOf = ({ project }: World) => `/projects/${project.id}/issues`;

const added = (here: World, persona: Persona, parameters = {}) => addIssue(here, parameters, persona);

const open = ({ db, project, group }: World) =>
  db.transaction().execute(async (tx) => {
    await tx.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
    await tx.updateTable('projects').set({ visibility: 'public' }).where('id', '=', project.id).execute();
  });

/** The system notes of an issue, oldest first. */
const notesOn = async ({ db }: World, issue_id: number) =>
  (
    await db
      .selectFrom('notes')
      .select('body')
      .where('issue_id', '=', issue_id)
      .where('system', '=', true)
      .orderBy('id')
      .execute()
  ).map(({ body }) => body);

const usernames = (users: { username: string }[]) => users.map(({ username }) => username);

test('a new issue has all fields of the specification', async () => {
  const here = await world();
  const { project, people, group } = here;
  const { body } = await here.as('planner').post(issuesOf(here), { title: '  The first  ' });
  const api = `http://coppice.test/api/v4/projects/${project.id}`;
  const author = {
    id: people.planner.id,
    username: people.planner.username,
    name: people.planner.username.replaceAll('-', ' '),
    state: 'active',
    locked: false,
    public_email: '',
    avatar_url: null,
    web_url: `http://coppice.test/${people.planner.username}`,
  };
  const { id, created_at } = body;
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(body, {
    id,
    iid: 1,
    project_id: project.id,
    title: 'The first',
    description: null,
    state: 'opened',
    created_at,
    updated_at: created_at,
    closed_at: null,
    closed_by: null,
    labels: [],
    milestone: null,
    assignees: [],
    author,
    type: 'ISSUE',
    assignee: null,
    user_notes_count: 0,
    merge_requests_count: 0,
    upvotes: 0,
    downvotes: 0,
    due_date: null,
    confidential: false,
    discussion_locked: null,
    issue_type: 'issue',
    web_url: `http://coppice.test/${project.full_path}/-/issues/1`,
    time_stats: { time_estimate: 0, total_time_spent: 0, human_time_estimate: null, human_total_time_spent: null },
    task_completion_status: { count: 0, completed_count: 0 },
    has_tasks: false,
    weight: null,
    blocking_issues_count: 0,
    health_status: null,
    epic: null,
    epic_iid: null,
    error_tracking_error_id: null,
    iteration: null,
    _links: {
      self: `${api}/issues/1`,
      notes: `${api}/issues/1/notes`,
      award_emoji: `${api}/issues/1/award_emoji`,
      project: api,
      closed_as_duplicate_of: null,
    },
    references: { short: '#1', relative: '#1', full: `${group.path}/${project.path}#1` },
    severity: 'UNKNOWN',
    subscribed: true,
    moved_to_id: null,
    imported: false,
    imported_from: 'none',
    service_desk_reply_to: null,
  });
  assert.deepEqual((await here.as('planner').get(`${issuesOf(here)}/1`)).body, body);
  const { subscribed, ...rest } = (await here.as('guest').get(`${issuesOf(here)}/1`)).body;
  assert.equal(subscribed, false);
  assert.deepEqual({ ...rest, subscribed: true }, body);
});

test('an issue is created with every parameter', async () => {
  const here = await world();
  const { people, project, as } = here;
  const milestone = (
    await as('owner').post(`/projects/${project.id}/milestones`, { title: 'One', due_date: '2031-02-03' })
  ).body;
  const issue = await added(here, 'developer', {
    title: 'Everything',
    description: '- [x] done\n- [ ] open',
    assignee_ids: [people.reporter.id, people.guest.id, people.outsider.id, 987_654_321],
    milestone_id: milestone.id,
    labels: 'one,  two , one',
    add_labels: ['three'],
    due_date: '2031-01-02',
    confidential: true,
    discussion_locked: true,
    issue_type: 'incident',
    weight: 3,
  });
  assert.deepEqual(issue.labels, ['one', 'three', 'two']);
  assert.deepEqual(usernames(issue.assignees).sort(), [people.guest.username, people.reporter.username].sort());
  assert.deepEqual(issue.assignee, issue.assignees[0]);
  assert.deepEqual(
    [issue.milestone?.id, issue.milestone?.title, issue.milestone?.due_date],
    [milestone.id, 'One', '2031-02-03'],
  );
  assert.deepEqual(
    [issue.due_date, issue.confidential, issue.discussion_locked, issue.weight],
    ['2031-01-02', true, true, 3],
  );
  assert.deepEqual([issue.type, issue.issue_type, issue.severity], ['INCIDENT', 'incident', 'UNKNOWN']);
  assert.deepEqual(
    [issue.has_tasks, issue.task_status, issue.task_completion_status],
    [true, '1 of 2 checklist items completed', { count: 2, completed_count: 1 }],
  );
  const notes = await notesOn(here, issue.id);
  assert.deepEqual(notes, [
    'changed due date to January 2, 2031',
    `assigned to @${people.reporter.username} and @${people.guest.username}`,
  ]);
  const count = (table: 'resource_label_events' | 'resource_milestone_events' | 'resource_weight_events') =>
    here.db.selectFrom(table).select('id').where('issue_id', '=', issue.id).execute();
  assert.equal((await count('resource_label_events')).length, 3);
  assert.equal((await count('resource_milestone_events')).length, 1);
  assert.equal((await count('resource_weight_events')).length, 1);
  const events = await here.db
    .selectFrom('events')
    .select(['action', 'author_id'])
    .where('target_type', '=', 'Issue')
    .where('target_id', '=', issue.id)
    .execute();
  assert.deepEqual(events, [{ action: 'created', author_id: people.developer.id }]);
  const todos = await here.db
    .selectFrom('todos')
    .select(['user_id', 'action_name'])
    .where('issue_id', '=', issue.id)
    .execute();
  assert.deepEqual(todos.map(({ user_id }) => user_id).sort(), [people.reporter.id, people.guest.id].sort());
});

test('an invalid issue is refused with the reason, and uses no iid', async () => {
  const here = await world();
  const { as } = here;
  const refused = async (parameters: Record<string, unknown>) => {
    const { status, body } = await as('owner').post(issuesOf(here), parameters);
    assert.equal(status, 400, JSON.stringify(parameters));
    return body.message;
  };
  assert.equal(await refused({}), 'title is missing');
  assert.deepEqual(await refused({ title: ' ' }), { title: ["can't be blank"] });
  assert.deepEqual(await refused({ title: 'x'.repeat(256) }), { title: ['is too long (maximum is 255 characters)'] });
  assert.deepEqual(await refused({ title: 'x', description: 'x'.repeat(1_048_577) }), {
    description: ['is too long (1 MB). The maximum size is 1 MB.'],
  });
  assert.deepEqual(await refused({ title: 'x', weight: -1 }), { weight: ['must be greater than or equal to 0'] });
  assert.deepEqual(await refused({ title: 'x', weight: 2 ** 40 }), {
    weight: ['must be less than or equal to 2147483647'],
  });
  assert.deepEqual(await refused({ title: 'x', assignee_ids: Array.from({ length: 201 }, (_, index) => index + 1) }), {
    assignees: ['total must be less than or equal to 200'],
  });
  assert.equal(await refused({ title: 'x', confidential: 'perhaps' }), 'confidential is invalid');
  assert.equal(await refused({ title: 'x', confidential: null }), 'confidential is empty');
  assert.equal(await refused({ title: 'x', due_date: '2031-02-30' }), 'due_date is invalid');
  assert.equal(await refused({ title: 'x', issue_type: 'epic' }), 'issue_type does not have a valid value');
  assert.equal(await refused({ title: 'x', epic_id: 1, epic_iid: 1 }), 'epic_id, epic_iid are mutually exclusive');
  assert.equal(
    await refused({ title: 'x', discussion_to_resolve: 'x' }),
    'merge_request_to_resolve_discussions_of is missing',
  );
  assert.deepEqual(await refused({ title: 'x', iid: 0 }), { iid: ['must be greater than or equal to 1'] });
  assert.equal((await as('owner').post(issuesOf(here), { title: 'x', milestone_id: 987_654_321 })).status, 404);

  const longest = { title: '\u{1f333}'.repeat(255), description: '\u{1f333}x'.repeat(524_288) };
  const kept = await added(here, 'owner', longest);
  assert.equal(kept.iid, 1);
  assert.deepEqual({ title: kept.title, description: kept.description }, longest);
});

test('the project decides who may create issues, and the role decides which parameters count', async () => {
  const here = await world();
  const { as, people } = here;
  assert.equal((await as('anonymous').post(issuesOf(here), { title: 'x' })).status, 401);
  assert.equal((await as('outsider').post(issuesOf(here), { title: 'x' })).status, 404);
  const all = {
    labels: 'new',
    due_date: '2031-01-01',
    weight: 1,
    assignee_ids: [people.guest.id],
    discussion_locked: true,
    iid: 50,
  };
  const byGuest = await added(here, 'guest', { ...all, created_at: '2001-01-01T00:00:00Z' });
  assert.deepEqual([byGuest.iid, byGuest.labels, byGuest.due_date, byGuest.weight], [1, [], '2031-01-01', 1]);
  assert.ok(byGuest.created_at > '2020');
  assert.equal((await as('guest').post(issuesOf(here), { title: 'x', issue_type: 'incident' })).status, 403);
  assert.equal((await as('planner').post(issuesOf(here), { title: 'x', issue_type: 'incident' })).status, 403);
  assert.deepEqual((await added(here, 'planner', all)).labels, ['new']);
  assert.deepEqual((await added(here, 'guest', { labels: 'new,other' })).labels, ['new']);

  await open(here);
  const stranger = await added(here, 'outsider', { ...all, labels: 'new', confidential: true });
  assert.deepEqual(
    [
      stranger.labels,
      stranger.due_date,
      stranger.weight,
      stranger.assignees,
      stranger.discussion_locked,
      stranger.confidential,
    ],
    [[], null, null, [], null, true],
  );
  await here.db
    .updateTable('projects')
    .set({ issues_access_level: 'private' })
    .where('id', '=', here.project.id)
    .execute();
  assert.equal((await as('outsider').post(issuesOf(here), { title: 'x' })).status, 403);
  assert.equal((await as('outsider').get(`${issuesOf(here)}/1`)).status, 404);
  assert.equal((await as('guest').get(`${issuesOf(here)}/1`)).status, 200);
  await here.db
    .updateTable('projects')
    .set({ issues_access_level: 'disabled' })
    .where('id', '=', here.project.id)
    .execute();
  assert.equal((await as('owner').post(issuesOf(here), { title: 'x' })).status, 403);
  assert.equal((await as('owner').get(`${issuesOf(here)}/1`)).status, 404);
  await here.db
    .updateTable('projects')
    .set({ issues_access_level: 'enabled', archived: true })
    .where('id', '=', here.project.id)
    .execute();
  assert.equal((await as('owner').post(issuesOf(here), { title: 'x' })).status, 403);
  assert.equal((await as('owner').put(`${issuesOf(here)}/1`, { title: 'x' })).status, 403);
  assert.equal((await as('owner').get(`${issuesOf(here)}/1`)).status, 200);
});

test('owners can choose iid and time, and no iid is used twice', async () => {
  const here = await world();
  const { as } = here;
  const chosen = await added(here, 'owner', { iid: 7, created_at: '2001-02-03T04:05:06.789Z', labels: 'old' });
  assert.deepEqual(
    [chosen.iid, chosen.created_at, chosen.updated_at],
    [7, '2001-02-03T04:05:06.789Z', '2001-02-03T04:05:06.789Z'],
  );
  const [event] = await here.db
    .selectFrom('resource_label_events')
    .select('created_at')
    .where('issue_id', '=', chosen.id)
    .execute();
  assert.equal(event?.created_at, chosen.created_at);
  const twice = await as('owner').post(issuesOf(here), { title: 'x', iid: 7 });
  assert.deepEqual([twice.status, twice.body], [409, { message: 'Duplicated issue' }]);
  assert.equal((await added(here, 'guest')).iid, 8);
  assert.equal((await added(here, 'owner', { iid: 3 })).iid, 3);
  assert.equal((await added(here, 'guest')).iid, 9);
  for (const iid of [9, 3]) assert.equal((await as('owner').delete(`${issuesOf(here)}/${iid}`)).status, 204);
  assert.equal((await added(here, 'guest')).iid, 10);
  assert.equal((await as('owner').post(issuesOf(here), { title: 'x', iid: 3 })).status, 409);
});

test('a confidential issue is visible to its author, its assignees and members from Planner up', async () => {
  const here = await world();
  const { as, people } = here;
  await open(here);
  const { iid, id } = await added(here, 'guest', { confidential: true });
  const path = `${issuesOf(here)}/${iid}`;
  for (const persona of ['guest', 'planner', 'reporter', 'owner', 'admin'] as const)
    assert.equal((await as(persona).get(path)).status, 200, persona);
  for (const persona of ['anonymous', 'outsider'] as const)
    assert.equal((await as(persona).get(path)).status, 404, persona);
  assert.equal((await as('outsider').put(path, { title: 'y' })).status, 403);
  assert.equal((await as('outsider').put(`${issuesOf(here)}/99`, { title: 'y' })).status, 404);
  assert.equal((await as('planner').put(path, { assignee_ids: [people.outsider.id] })).status, 200);
  assert.equal((await as('outsider').get(path)).status, 200);
  assert.equal((await as('outsider').put(path, { title: 'Mine, too' })).body.title, 'Mine, too');
  assert.equal((await as('admin').get(`/issues/${id}`)).body.references.relative, '#1');
  assert.equal((await as('owner').get(`/issues/${id}`)).status, 403);
  assert.equal((await as('anonymous').get(`/issues/${id}`)).status, 401);
  assert.equal((await as('admin').get('/issues/987654321')).status, 404);
  const odd = await as('planner').get(`${issuesOf(here)}/one`);
  assert.deepEqual([odd.status, odd.body.error], [400, 'issue_iid is invalid']);
  assert.equal((await as('planner').get(`${issuesOf(here)}/99999999999999999999`)).status, 404);
});

test('every change gets one system note in the words of the reference', async () => {
  const here = await world();
  const { as, people } = here;
  const { iid, id } = await added(here, 'guest', { title: 'Old title', description: '- [ ] write\n- [ ] read' });
  const path = `${issuesOf(here)}/${iid}`;
  const change = async (parameters: Record<string, unknown>) => {
    const { status, body } = await as('reporter').put(path, parameters);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  };
  await change({ title: 'New title' });
  await change({ description: '- [x] write\n- [ ] read' });
  await change({ description: 'Something else' });
  await change({ assignee_ids: [people.guest.id, people.planner.id, people.owner.id] });
  await change({ assignee_ids: [people.guest.id, people.developer.id] });
  await change({ confidential: true });
  await change({ confidential: false });
  await change({ discussion_locked: true });
  await change({ discussion_locked: false });
  await change({ due_date: '2018-09-20' });
  await change({ due_date: '' });
  await change({ issue_type: 'incident' });
  const name = (persona: Persona) => `@${people[persona].username}`;
  const expected = [
    'changed title from **{-Old-} title** to **{+New+} title**',
    'marked the checklist item **write** as completed',
    'changed the description',
    `assigned to ${name('guest')}, ${name('planner')}, and ${name('owner')}`,
    `assigned to ${name('developer')} and unassigned ${name('planner')} and ${name('owner')}`,
    'made the issue confidential',
    'made the issue visible to everyone',
    'locked the discussion in this issue',
    'unlocked the discussion in this issue',
    'changed due date to September 20, 2018',
    'removed due date',
    'changed type from issue to incident',
  ];
  assert.deepEqual(await notesOn(here, id), expected);
  const last = await change({ title: 'New title', due_date: null, discussion_locked: false, confidential: false });
  assert.deepEqual(await notesOn(here, id), expected);
  assert.equal((await change({ title: 'New title' })).updated_at, last.updated_at);
});

test('labels, milestone and weight are changed and cleared, with resource events', async () => {
  const here = await world();
  const { as, project, db } = here;
  const { iid, id } = await added(here, 'planner', { labels: 'a,b' });
  const path = `${issuesOf(here)}/${iid}`;
  const labels = async (parameters: Record<string, unknown>) => (await as('planner').put(path, parameters)).body.labels;
  assert.deepEqual(await labels({ add_labels: 'c, d', remove_labels: ['a'] }), ['b', 'c', 'd']);
  assert.deepEqual(await labels({ labels: 'x,y', add_labels: 'z', remove_labels: 'y' }), ['x', 'z']);
  assert.deepEqual(await labels({ labels: ['scope::1', 'scope::2', 'x'] }), ['scope::2', 'x']);
  assert.deepEqual(await labels({ add_labels: 'scope::1' }), ['scope::1', 'x']);
  assert.deepEqual(await labels({ labels: '' }), []);
  assert.deepEqual(await labels({ labels: ['q'] }), ['q']);
  assert.deepEqual(await labels({ labels: [''] }), []);
  const events = await db
    .selectFrom('resource_label_events')
    .innerJoin('labels', 'labels.id', 'label_id')
    .select(['action', 'title'])
    .where('issue_id', '=', id)
    .orderBy('resource_label_events.id')
    .execute();
  assert.deepEqual(
    events.slice(2, 5).map(({ action, title }) => `${action} ${title}`),
    ['add c', 'add d', 'remove a'],
  );
  const milestone = (await as('owner').post(`/projects/${project.id}/milestones`, { title: 'One' })).body;
  assert.equal((await as('planner').put(path, { milestone_id: milestone.id })).body.milestone.title, 'One');
  assert.equal((await as('planner').put(path, { milestone_id: 0 })).body.milestone, null);
  await as('planner').put(path, { milestone_id: milestone.id });
  assert.equal((await as('planner').put(path, { milestone_id: '' })).body.milestone, null);
  assert.equal((await as('planner').put(path, { weight: 5 })).body.weight, 5);
  assert.equal((await as('planner').put(path, { weight: null })).body.weight, null);
  const assignees = async (parameters: Record<string, unknown>) =>
    usernames((await as('planner').put(path, parameters)).body.assignees);
  const { planner, guest } = here.people;
  for (const cleared of [
    { assignee_ids: 0 },
    { assignee_ids: [0] },
    { assignee_ids: '' },
    { assignee_ids: null },
    { assignee_id: 0 },
    { assignee_id: '' },
  ]) {
    assert.deepEqual(await assignees({ assignee_ids: `${planner.id},${guest.id}` }), [
      guest.username,
      planner.username,
    ]);
    assert.deepEqual(await assignees(cleared), [], JSON.stringify(cleared));
  }
  assert.deepEqual(await assignees({ assignee_id: guest.id }), [guest.username]);
  await as('planner').put(path, { labels: 'b' });
  assert.deepEqual((await as('planner').put(path, { labels: null })).body.labels, []);
});

test('users who cannot be assigned are ignored, and the current assignees stay if no one else is given', async () => {
  const here = await world();
  const { as, people, db } = here;
  const { planner, guest, outsider } = people;
  const { iid } = await added(here, 'guest', { title: 'Assigned' });
  const path = `${issuesOf(here)}/${iid}`;
  const assigned = async () => usernames((await as('planner').get(path)).body.assignees);
  await as('planner').put(path, { assignee_ids: [guest.id] });
  for (const given of [{ assignee_ids: [outsider.id, 987_654_321], title: 'Changed' }, { assignee_id: outsider.id }]) {
    const { status, body } = await as('planner').put(path, given);
    assert.deepEqual([status, body.title, usernames(body.assignees)], [200, 'Changed', [guest.username]]);
  }
  assert.equal((await as('planner').put(path, { assignee_ids: [planner.id, outsider.id, 987_654_321] })).status, 200);
  assert.deepEqual(await assigned(), [planner.username]);
  await as('planner').put(path, { assignee_ids: [guest.id] });
  await db.updateTable('users').set({ state: 'blocked' }).where('id', '=', guest.id).execute();
  await as('planner').put(path, { assignee_ids: [guest.id, planner.id] });
  assert.deepEqual(await assigned(), [guest.username, planner.username], 'a present assignee can stay');
  await as('planner').put(path, { assignee_ids: [planner.id] });
  assert.equal((await as('planner').put(path, { assignee_ids: [guest.id] })).status, 200);
  assert.deepEqual(await assigned(), [planner.username], 'a former one cannot come back');
});

test('an edit needs at least one parameter, and invalid ones are refused', async () => {
  const here = await world();
  const { as } = here;
  const { iid } = await added(here, 'guest');
  const path = `${issuesOf(here)}/${iid}`;
  const before = (await as('owner').get(path)).body;
  const message = async (parameters: Record<string, unknown>) => {
    const { status, body } = await as('owner').put(path, parameters);
    assert.equal(status, 400, JSON.stringify(parameters));
    return body.message;
  };
  const all =
    'assignee_id, assignee_ids, confidential, created_at, description, discussion_locked, due_date, labels, add_labels, remove_labels, milestone_id, ' +
    'state_event, title, issue_type, weight, epic_id, epic_iid are missing, at least one parameter must be provided';
  assert.equal(await message({}), all);
  assert.equal(await message({ updated_at: '2001-01-01T00:00:00Z' }), all);
  assert.equal(await message({ title: 'x', updated_at: '' }), 'updated_at is empty');
  assert.equal(await message({ title: 'x', updated_at: null }), 'updated_at is empty');
  assert.equal(await message({ title: 'x', updated_at: 'soon' }), 'updated_at is invalid');
  assert.equal(await message({ confidential: '' }), 'confidential is empty');
  assert.equal(await message({ state_event: 'end' }), 'state_event does not have a valid value');
  assert.deepEqual(await message({ title: '' }), { title: ["can't be blank"] });
  assert.deepEqual((await as('owner').get(path)).body, { ...before });
  const backdated = await as('owner').put(path, {
    title: 'y',
    updated_at: '2001-01-01T00:00:00Z',
    created_at: '2000-01-01T00:00:00Z',
  });
  assert.deepEqual(
    [backdated.body.updated_at, backdated.body.created_at],
    ['2001-01-01T00:00:00.000Z', '2000-01-01T00:00:00.000Z'],
  );
  const ignored = await as('maintainer').put(path, {
    title: 'z',
    updated_at: '2001-01-01T00:00:00Z',
    created_at: '2001-01-01T00:00:00Z',
  });
  assert.equal(ignored.status, 200);
  assert.ok(ignored.body.updated_at > '2020');
  assert.equal(ignored.body.created_at, '2000-01-01T00:00:00.000Z');
});

test('closing and reopening set time and user, and have effects once', async () => {
  const here = await world();
  const { as, people, db } = here;
  const { iid, id } = await added(here, 'guest');
  const path = `${issuesOf(here)}/${iid}`;
  const closed = (await as('guest').put(path, { state_event: 'close' })).body;
  assert.deepEqual(
    [closed.state, closed.closed_by.id, closed.closed_at],
    ['closed', people.guest.id, closed.updated_at],
  );
  const again = await as('planner').put(path, { state_event: 'close' });
  assert.deepEqual(
    [again.status, again.body.closed_by.id, again.body.updated_at],
    [200, people.guest.id, closed.updated_at],
  );
  const opened = (await as('planner').put(path, { state_event: 'reopen' })).body;
  assert.deepEqual([opened.state, opened.closed_by, opened.closed_at], ['opened', null, null]);
  assert.equal((await as('planner').put(path, { state_event: 'reopen' })).status, 200);
  const states = await db
    .selectFrom('resource_state_events')
    .select('state')
    .where('issue_id', '=', id)
    .orderBy('id')
    .execute();
  assert.deepEqual(
    states.map(({ state }) => state),
    ['closed', 'reopened'],
  );
  const events = await db
    .selectFrom('events')
    .select('action')
    .where('target_id', '=', id)
    .where('target_type', '=', 'Issue')
    .orderBy('id')
    .execute();
  assert.deepEqual(
    events.map(({ action }) => action),
    ['created', 'closed', 'reopened'],
  );
  assert.deepEqual(await notesOn(here, id), []);
});

test('authors and assignees can edit title, description and state; other parameters are ignored', async () => {
  const here = await world();
  const { as, people } = here;
  await open(here);
  const { iid } = await added(here, 'outsider');
  const path = `${issuesOf(here)}/${iid}`;
  assert.equal((await as('guest').put(path, { title: 'x' })).status, 403);
  const other = {
    labels: 'a',
    due_date: '2031-01-01',
    confidential: true,
    discussion_locked: true,
    weight: 1,
    assignee_ids: [people.guest.id],
  };
  const { body } = await as('outsider').put(path, { title: 'Mine', description: 'Text', ...other });
  assert.deepEqual(
    [
      body.title,
      body.description,
      body.labels,
      body.due_date,
      body.confidential,
      body.discussion_locked,
      body.weight,
      body.assignees,
    ],
    ['Mine', 'Text', [], null, false, null, null, []],
  );
  assert.equal((await as('outsider').put(path, { state_event: 'close' })).body.state, 'closed');
  await as('planner').put(path, { discussion_locked: true });
  assert.equal((await as('outsider').put(path, { state_event: 'reopen' })).body.state, 'closed');
  await as('planner').put(path, { assignee_ids: [people.guest.id] });
  assert.equal((await as('guest').put(path, { state_event: 'reopen', labels: 'a' })).body.state, 'opened');
});

test('only owners and administrators can delete an issue, unless it has changed since', async () => {
  const here = await world();
  const { as, db } = here;
  const { iid, id, updated_at } = await added(here, 'guest');
  const path = `${issuesOf(here)}/${iid}`;
  for (const persona of ['guest', 'planner', 'maintainer'] as const)
    assert.equal((await as(persona).delete(path)).status, 403, persona);
  const before = new Date(Date.parse(updated_at) - 5000).toUTCString();
  const stale = await as('owner').delete(path, undefined, { headers: { 'if-unmodified-since': before } });
  assert.deepEqual([stale.status, stale.body], [412, { message: '412 Precondition Failed' }]);
  assert.equal((await as('guest').get(path)).status, 200);
  assert.equal((await as('admin').delete(path)).status, 204);
  const gone = await as('owner').delete(path);
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Issue Not Found' }]);
  assert.deepEqual(await db.selectFrom('notes').select('id').where('issue_id', '=', id).execute(), []);
});

test('concurrent creation and deletion number issues without gaps and repeats', async () => {
  const here = await world();
  const { as, db } = here;
  const personas = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const;
  const issues = await Promise.all(
    Array.from({ length: 96 }, (_, index) =>
      added(here, personas[index % personas.length]!, index % 3 === 0 ? { labels: 'x,y' } : {}),
    ),
  );
  const numbers = (list: { iid: number }[]) => list.map(({ iid }) => iid).sort((one, other) => one - other);
  assert.deepEqual(
    numbers(issues),
    Array.from({ length: 96 }, (_, index) => index + 1),
  );
  const [removed, more] = await Promise.all([
    Promise.all(issues.slice(0, 10).map(({ iid }) => as('owner').delete(`${issuesOf(here)}/${iid}`))),
    Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        index % 4 === 0
          ? as('guest').post(issuesOf(here), { title: '' })
          : as('guest').post(issuesOf(here), { title: 'x' }),
      ),
    ),
  ]);
  assert.ok(removed.every(({ status }) => status === 204));
  const later = more.filter(({ status }) => status === 201).map(({ body }) => body);
  assert.deepEqual(
    numbers(later),
    Array.from({ length: 30 }, (_, index) => index + 97),
  );
  const kept = await db.selectFrom('issues').select('iid').where('project_id', '=', here.project.id).execute();
  assert.equal(new Set(kept.map(({ iid }) => iid)).size, 116);
});

test('a chosen iid leaves room for later ones', async () => {
  const here = await world();
  const { status, body } = await here.as('owner').post(issuesOf(here), { title: 'x', iid: 2 ** 31 - 1 });
  assert.deepEqual([status, body.message], [400, { iid: ['must be less than or equal to 1000000000'] }]);
  await added(here, 'owner', { iid: 1_000_000_000 });
  assert.equal((await added(here, 'guest')).iid, 1_000_000_001);
});

test('no parameter value causes a server error', async () => {
  const here = await world();
  const { iid } = await addIssue(here);
  const path = `${issuesOf(here)}/${iid}`;
  const owner = here.as('owner');
  const random = randomFrom(seedOfToday());
  for (let attempt = 0; attempt < 400; attempt++) {
    const odd = random.of([...oddTexts, ...oddValues]);
    const [method, address, parameters] = random.of([
      ['put', path, { [random.of(Object.keys(editInput))]: odd }] as const,
      ['post', issuesOf(here), { title: 'x', [random.of(Object.keys(newIssueInput))]: odd }] as const,
      ['put', `${path}/reorder`, { move_after_id: odd }] as const,
      ['post', `${path}/add_spent_time`, { duration: odd, summary: odd }] as const,
      ['post', `${path}/clone`, { to_project_id: odd }] as const,
      ['post', `${path}/links`, { target_project_id: odd, target_issue_iid: odd }] as const,
    ]);
    const { status, body } = await owner[method](address, parameters);
    assert.ok(
      status < 500,
      `${method} ${address} ${JSON.stringify(parameters).slice(0, 200)} answers ${JSON.stringify(body)}`,
    );
  }
});

test('an edit sets the iteration and the health status, alone and together', async () => {
  const here = await world();
  const { as, group, project } = here;
  const issue = await addIssue(here);
  const path = `/projects/${project.id}/issues/${issue.iid}`;
  const cadence = { title: 'Weeks', automatic: true, start_date: today(), duration_in_weeks: 1 };
  assert.equal(
    (await as('planner').post(`/groups/${group.id}/iteration_cadences`, { ...cadence, iterations_in_advance: 1 }))
      .status,
    201,
  );
  const [iteration] = (await as('planner').get(`/groups/${group.id}/iterations`)).body;

  const risky = await as('planner').put(path, { health_status: 'at_risk' });
  assert.deepEqual([risky.status, risky.body.health_status, risky.body.iteration], [200, 'at_risk', null]);
  const planned = await as('planner').put(path, { iteration_id: iteration.id });
  assert.deepEqual([planned.body.iteration.id, planned.body.health_status], [iteration.id, 'at_risk']);
  const events = (await as('planner').get(`${path}/resource_iteration_events`)).body;
  assert.deepEqual(
    events.map(({ action }: { action: string }) => action),
    ['add'],
  );
  const cleared = await as('planner').put(path, { iteration_id: 0, health_status: null });
  assert.deepEqual([cleared.body.iteration, cleared.body.health_status], [null, null]);

  assert.equal((await as('planner').put(path, { iteration_id: 999_999 })).body.message, '404 Iteration Not Found');
  const odd = await as('planner').put(path, { health_status: 'fine' });
  assert.deepEqual([odd.status, odd.body.error], [400, 'health_status does not have a valid value']);
});
