import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { createGroup } from '../../spaces/groups/index.ts';
import { createProject } from '../../spaces/projects/index.ts';

const titles = (answer: { body: { title: string }[] }) => answer.body.map(({ title }) => title);

async function issueOf({ db, people, project }: World, milestone_id: number, values: object = {}): Promise<number> {
  const { iid } = await db
    .selectFrom('issues')
    .select((q) => q.fn.count<number>('id').as('iid'))
    .where('project_id', '=', project.id)
    .executeTakeFirstOrThrow();
  const { id } = await db
    .insertInto('issues')
    .values({
      project_id: project.id,
      iid: iid + 1,
      title: 'Ripen',
      author_id: people.owner.id,
      milestone_id,
      ...values,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

test('a project milestone is created, updated, closed, reopened and deleted', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/milestones`;
  const added = await as('planner').post(url, { title: ' v1 ', start_date: '2001-01-01', due_date: '2001-02-01' });
  assert.equal(added.status, 201);
  const { id, created_at } = added.body;
  assert.deepEqual(added.body, {
    id,
    iid: 1,
    project_id: project.id,
    title: 'v1',
    description: null,
    state: 'active',
    created_at,
    updated_at: created_at,
    due_date: '2001-02-01',
    start_date: '2001-01-01',
    expired: true,
    web_url: `http://coppice.test/${project.full_path}/-/milestones/1`,
  });
  const changed = await as('planner').put(`${url}/${id}`, { due_date: '', description: 'soon', state_event: 'close' });
  assert.deepEqual(changed.body, {
    ...added.body,
    due_date: null,
    expired: false,
    description: 'soon',
    state: 'closed',
    updated_at: changed.body.updated_at,
  });
  assert.equal((await as('planner').put(`${url}/${id}`, { state_event: 'activate' })).body.state, 'active');
  assert.equal((await as('guest').get(`${url}/${id}`)).body.state, 'active');
  assert.equal((await as('guest').put(`${url}/${id}`, { title: 'mine' })).status, 403);
  assert.equal((await as('guest').delete(`${url}/${id}`)).status, 403);
  assert.deepEqual(titles(await as('guest').get(url)), ['v1']);

  const early = { headers: { 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' } };
  assert.equal((await as('planner').delete(`${url}/${id}`, {}, early)).status, 412);
  assert.equal((await as('planner').delete(`${url}/${id}`)).status, 204);
  const gone = await as('guest').get(`${url}/${id}`);
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Not found' }]);
  assert.equal((await as('planner').post(url, { title: 'v2' })).body.iid, 2);
});

test('group milestones have their own iids and are not milestones of the projects', async () => {
  const { as, group, project } = await world();
  await as('planner').post(`/projects/${project.id}/milestones`, { title: 'here' });
  const added = await as('planner').post(`/groups/${group.id}/milestones`, { title: 'there' });
  const { id, iid, group_id, web_url } = added.body;
  assert.deepEqual(
    [iid, group_id, web_url],
    [1, group.id, `http://coppice.test/groups/${group.full_path}/-/milestones/1`],
  );
  assert.ok(!('project_id' in added.body));
  assert.equal((await as('guest').get(`/projects/${project.id}/milestones/${id}`)).status, 404);
  assert.equal((await as('planner').put(`/projects/${project.id}/milestones/${id}`, { title: 'x' })).status, 404);
  assert.equal((await as('guest').get(`/groups/${group.id}/milestones/${id}`)).status, 200);
});

test('an invalid milestone is refused with reasons by field, and nothing changes', async () => {
  const { as, project, group } = await world();
  const url = `/projects/${project.id}/milestones`;
  const { id } = (await as('planner').post(url, { title: 'mine', start_date: '2030-01-01' })).body;
  await as('planner').post(`/groups/${group.id}/milestones`, { title: 'ours' });
  const taken = '{:title=>["already being used for another group or project milestone."]}';
  for (const [fields, message] of [
    [{ title: 'mine' }, `Failed to create milestone ${taken}`],
    [{ title: 'ours' }, `Failed to create milestone ${taken}`],
    [{ title: ' ' }, 'Failed to create milestone {:title=>["can\'t be blank"]}'],
    [{ title: 'x'.repeat(256) }, 'Failed to create milestone {:title=>["is too long (maximum is 255 characters)"]}'],
    [
      { title: 'new', start_date: '2030-01-02', due_date: '2030-01-02' },
      'Failed to create milestone {:due_date=>["must be greater than start date"]}',
    ],
    [{}, 'title is missing'],
    [{ title: 'new', due_date: '2030-02-30' }, 'due_date is invalid'],
  ] as const) {
    const refused = await as('planner').post(url, { ...fields });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  for (const [fields, message] of [
    [{ title: 'ours' }, `Failed to update milestone ${taken}`],
    [{ due_date: '2029-01-01' }, 'Failed to update milestone {:due_date=>["must be greater than start date"]}'],
    [{}, 'title, description, start_date, due_date, state_event are missing, at least one parameter must be provided'],
    [{ state_event: 'open' }, 'state_event does not have a valid value'],
  ] as const) {
    const refused = await as('planner').put(`${url}/${id}`, { ...fields });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  const inGroup = await as('planner').post(`/groups/${group.id}/milestones`, { title: 'mine' });
  assert.equal(inGroup.body.message, `Failed to create milestone ${taken}`);
  assert.deepEqual(titles(await as('guest').get(url)), ['mine']);
});

test('the list is sorted by due date, and every filter works', async () => {
  const { as, project, group, db } = await world();
  const url = `/projects/${project.id}/milestones`;
  const add = async (fields: object) => (await as('planner').post(url, { ...fields })).body.id as number;
  await add({ title: 'open end' });
  const late = await add({ title: 'late', due_date: '2031-01-01', description: 'harvest' });
  await add({ title: 'early', due_date: '2030-01-01' });
  await as('planner').put(`${url}/${late}`, { state_event: 'close' });
  await db.updateTable('milestones').set({ updated_at: '2020-01-01T00:00:00Z' }).where('id', '=', late).execute();
  await as('planner').post(`/groups/${group.id}/milestones`, { title: 'above', due_date: '2029-01-01' });
  for (const [filters, expected] of [
    [{}, ['early', 'late', 'open end']],
    [{ state: 'all' }, ['early', 'late', 'open end']],
    [{ state: 'closed' }, ['late']],
    [{ state: 'active' }, ['early', 'open end']],
    [{ iids: [2, 3, 99999999999] }, ['early', 'late']],
    [{ title: 'late' }, ['late']],
    [{ title: 'LATE' }, []],
    [{ search: 'HARV' }, ['late']],
    [{ search: 'arly' }, ['early']],
    [{ search: '_' }, []],
    [{ updated_before: '2020-01-01' }, ['late']],
    [{ updated_after: '2020-01-02' }, ['early', 'open end']],
    [{ include_ancestors: true }, ['above', 'early', 'late', 'open end']],
    [{ include_parent_milestones: true, iids: [1] }, ['above', 'early', 'late', 'open end']],
    [{ per_page: 1, page: 2 }, ['late']],
  ] as const)
    assert.deepEqual(titles(await as('guest').get(url, filters)), expected, JSON.stringify(filters));
  for (const [filters, message] of [
    [{ state: 'open' }, 'state does not have a valid value'],
    [{ iids: ['x'] }, 'iids is invalid'],
    [{ updated_after: 'soon' }, 'updated_after is invalid'],
    [
      { include_ancestors: true, include_parent_milestones: true },
      'include_ancestors, include_parent_milestones are mutually exclusive',
    ],
  ] as const) {
    const refused = await as('guest').get(url, filters);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
});

test('a group lists its own milestones, readable ones of ancestors and descendants, and those of a day', async () => {
  const here = await world();
  const { as, group, db, people } = here;
  const below = await db
    .transaction()
    .execute((tx) =>
      createGroup(tx, { name: 'below', path: 'below', parent_id: group.id, creator_id: people.owner.id }),
    );
  await as('owner').post(`/groups/${group.id}/milestones`, {
    title: 'top',
    start_date: '2030-01-01',
    due_date: '2030-02-01',
  });
  await as('owner').post(`/groups/${group.id}/milestones`, { title: 'undated' });
  await as('owner').post(`/groups/${below}/milestones`, { title: 'low', start_date: '2030-02-01' });
  const url = `/groups/${group.id}/milestones`;
  assert.deepEqual(titles(await as('owner').get(url)), ['top', 'undated']);
  assert.deepEqual(titles(await as('owner').get(url, { include_descendants: true })), ['top', 'undated', 'low']);
  assert.deepEqual(titles(await as('owner').get(`/groups/${below}/milestones`, { include_ancestors: true })), [
    'top',
    'undated',
    'low',
  ]);
  assert.deepEqual(titles(await as('owner').get(url, { search_title: 'DATE' })), ['undated']);
  const on = async (day: string) =>
    titles(await as('owner').get(url, { include_descendants: true, containing_date: day }));
  assert.deepEqual(await on('2029-12-31'), []);
  assert.deepEqual(await on('2030-01-01'), ['top']);
  assert.deepEqual(await on('2030-02-01'), ['top', 'low']);
  assert.deepEqual(await on('2040-01-01'), ['low']);
});

test('a promoted milestone takes over the issues, merge requests and releases of milestones with its title in the projects of the group', async () => {
  const here = await worldWithTopic();
  const { as, group, project, people, services, db } = here;
  const other = await createProject(services, {
    name: 'other',
    path: 'other',
    namespace: group,
    creator_id: people.owner.id,
    default_branch: 'main',
  });
  const add = async (id: number) =>
    (await as('owner').post(`/projects/${id}/milestones`, { title: 'v1', due_date: '2031-05-05' })).body.id;
  const [mine, theirs] = [await add(project.id), await add(other)];
  const issue = await issueOf(here, mine);
  const request = await addMergeRequest(here, { milestone_id: mine });
  const release = { tag_name: 'v1', ref: 'main', milestones: ['v1'] };
  assert.equal((await as('owner').post(`/projects/${project.id}/releases`, release)).status, 201);
  const url = `/projects/${project.id}/milestones/${mine}/promote`;
  assert.equal((await as('planner').post(url)).status, 403);
  assert.equal((await as('reporter').post(`/projects/${project.id}/milestones/${theirs}/promote`)).status, 404);
  const promoted = await as('reporter').post(url);
  const [milestone] = (await as('guest').get(`/groups/${group.id}/milestones`)).body;
  assert.deepEqual([promoted.status, promoted.body], [200, milestone]);
  assert.deepEqual([milestone.title, milestone.due_date, milestone.iid], ['v1', '2031-05-05', 1]);
  const row = await db
    .selectFrom('issues')
    .select(['milestone_id', 'milestone_due_date'])
    .where('id', '=', issue)
    .executeTakeFirst();
  assert.deepEqual(row, { milestone_id: milestone.id, milestone_due_date: '2031-05-05' });
  const shown = (await as('owner').get(`/projects/${project.id}/merge_requests/${request.iid}`)).body;
  assert.equal(shown.milestone.id, milestone.id);
  const { milestones } = (await as('owner').get(`/projects/${project.id}/releases/v1`)).body;
  assert.deepEqual(
    milestones.map(({ id }: { id: number }) => id),
    [milestone.id],
  );
  for (const id of [project.id, other])
    assert.deepEqual((await as('owner').get(`/projects/${id}/milestones`)).body, []);

  // As after a transfer: the group has a milestone with the title already.
  const { id: late } = await db
    .insertInto('milestones')
    .values({ project_id: project.id, iid: 7, title: 'v1' })
    .returning('id')
    .executeTakeFirstOrThrow();
  const lateIssue = await issueOf(here, late);
  const merged = await as('reporter').post(`/projects/${project.id}/milestones/${late}/promote`);
  assert.deepEqual([merged.status, merged.body], [200, milestone]);
  assert.deepEqual(
    (await as('guest').get(`/groups/${group.id}/milestones`)).body,
    [milestone],
    'the group keeps its own',
  );
  assert.equal((await as('guest').get(`/projects/${project.id}/milestones/${late}`)).status, 404);
  const { body } = await as('guest').get(`/groups/${group.id}/milestones/${milestone.id}/issues`);
  assert.deepEqual(body.map(({ id }: { id: number }) => id).sort(), [issue, lateIssue].sort());
});

test('burndown events say when the readable issues were opened, closed and reopened', async () => {
  const here = await world();
  const { as, project, db } = here;
  const url = `/projects/${project.id}/milestones`;
  const { id } = (await as('planner').post(url, { title: 'v1', due_date: '2020-03-01' })).body;
  const issue = await issueOf(here, id, { weight: 3, created_at: '2020-01-01T00:00:00Z' });
  await issueOf(here, id, { confidential: true, created_at: '2020-01-02T00:00:00Z' });
  await issueOf(here, id, { created_at: '2020-03-02T00:00:00Z' });
  await sql`insert into resource_state_events (issue_id, state, created_at) values
    (${issue}, 'closed', '2020-02-01'), (${issue}, 'reopened', '2020-03-01T23:00:00Z')`.execute(db);
  const seen = [
    { created_at: '2020-01-01T00:00:00.000Z', weight: 3, action: 'created' },
    { created_at: '2020-02-01T00:00:00.000Z', weight: 3, action: 'closed' },
    { created_at: '2020-03-01T23:00:00.000Z', weight: 3, action: 'reopened' },
  ];
  assert.deepEqual((await as('guest').get(`${url}/${id}/burndown_events`)).body, seen);
  assert.deepEqual((await as('planner').get(`${url}/${id}/burndown_events`)).body, [
    seen[0],
    { created_at: '2020-01-02T00:00:00.000Z', weight: null, action: 'created' },
    ...seen.slice(1),
  ]);
  assert.deepEqual((await as('reporter').get(`${url}/${id}/merge_requests`)).body, []);
  assert.equal((await as('guest').get(`${url}/0/burndown_events`)).status, 404);
});

test('milestones are hidden from non-members and from requests without a token', async () => {
  const { as, project, group } = await world();
  for (const url of [`/projects/${project.id}/milestones`, `/groups/${group.id}/milestones`]) {
    assert.equal((await as('anonymous').get(url)).status, 401);
    assert.equal((await as('outsider').get(url)).status, 404);
    assert.equal((await as('guest').post(url, { title: 'x' })).status, 403);
    assert.deepEqual((await as('guest').get(url)).body, []);
  }
});
