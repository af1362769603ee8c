import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addEpic } from '../../../../test/support/epics.ts';
import { type World, world } from '../../../../test/support/world.ts';

const epicsOf = ({ group }: World) => `/groups/${group.id}/epics`;
const pathOf = (here: World, { iid }: { iid: number }) => `${epicsOf(here)}/${iid}`;

/** The system notes of an epic, oldest first. */
async function notesOn(here: World, epic_id: number): Promise<string[]> {
  const rows = await here.db
    .selectFrom('notes')
    .select('body')
    .where('epic_id', '=', epic_id)
    .where('system', '=', true)
    .orderBy('id')
    .execute();
  return rows.map(({ body }) => body);
}

test('an epic is created with every parameter', async () => {
  const here = await world();
  const { as, group, people } = here;
  const answer = await as('planner').post(epicsOf(here), {
    title: '  Harvest ',
    description: 'All of it',
    labels: 'fruit, autumn',
    color: '#abc',
    start_date_fixed: '2031-03-01',
    start_date_is_fixed: true,
  });
  assert.equal(answer.status, 201);
  const { id, created_at, updated_at, author, ...epic } = answer.body;
  const url = `http://coppice.test/groups/${group.full_path}/-/epics/1`;
  const api = `http://coppice.test/api/v4/groups/${group.id}`;
  assert.equal(author.id, people.planner.id);
  assert.equal(created_at, updated_at);
  assert.deepEqual(epic, {
    work_item_id: id,
    iid: 1,
    color: '#aabbcc',
    text_color: '#1F1E24',
    group_id: group.id,
    parent_id: null,
    parent_iid: null,
    imported: false,
    imported_from: 'none',
    title: 'Harvest',
    description: 'All of it',
    confidential: false,
    start_date: '2031-03-01',
    start_date_is_fixed: true,
    start_date_fixed: '2031-03-01',
    start_date_from_inherited_source: null,
    start_date_from_milestones: null,
    end_date: null,
    due_date: null,
    due_date_is_fixed: false,
    due_date_fixed: null,
    due_date_from_inherited_source: null,
    due_date_from_milestones: null,
    state: 'opened',
    web_edit_url: `${url}/edit`,
    web_url: url,
    references: { short: '&1', relative: '&1', full: `${group.full_path}&1` },
    closed_at: null,
    labels: ['autumn', 'fruit'],
    upvotes: 0,
    downvotes: 0,
    subscribed: true,
    _links: { self: `${api}/epics/1`, epic_issues: `${api}/epics/1/issues`, group: api, parent: null },
  });
  const created = await as('guest').get(`/groups/${group.id}/labels`);
  assert.deepEqual(
    created.body.map(({ name, color }: { name: string; color: string }) => [name, color]),
    [
      ['autumn', '#6699cc'],
      ['fruit', '#6699cc'],
    ],
  );
  const second = await addEpic(here);
  assert.deepEqual([second.iid, second.color, second.description], [2, '#1068bf', null]);
});

test('both paths lead to the same epics', async () => {
  const here = await world();
  const epic = await addEpic(here, { title: 'One' });
  const other = `/groups/${encodeURIComponent(here.group.full_path)}/-/epics`;
  assert.deepEqual((await here.as('owner').get(`${other}/${epic.iid}`)).body, epic);
  assert.equal((await here.as('owner').put(`${other}/${epic.iid}`, { title: 'Two' })).body.title, 'Two');
  assert.equal((await here.as('owner').get(pathOf(here, epic))).body.title, 'Two');
  assert.deepEqual(
    (await here.as('guest').get(other)).body.map(({ id }: { id: number }) => id),
    [epic.id],
  );
});

test('members below Planner can read epics but not change them', async () => {
  const here = await world();
  const { as } = here;
  const epic = await addEpic(here);
  const path = pathOf(here, epic);
  const { subscribed, ...seen } = (await as('guest').get(path)).body;
  const { subscribed: _own, ...shown } = epic;
  assert.deepEqual([seen, subscribed], [shown, false]);
  for (const [method, url, body] of [
    ['post', epicsOf(here), { title: 'No' }],
    ['put', path, { title: 'No' }],
    ['delete', path, {}],
  ] as const) {
    assert.equal((await as('guest')[method](url, body)).status, 403, `guest ${method}`);
    assert.equal((await as('outsider')[method](url, body)).status, 404, `outsider ${method}`);
    assert.equal((await as('anonymous')[method](url, body)).status, 401, `anonymous ${method}`);
  }
  assert.equal((await as('outsider').get(path)).status, 404);
  assert.equal((await as('anonymous').get(epicsOf(here))).status, 404);
  await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  assert.equal((await as('anonymous').get(path)).body.title, 'An epic');
  assert.equal((await as('outsider').put(path, { title: 'No' })).status, 403);
});

test('a confidential epic is visible to members from Planner up', async () => {
  const here = await world();
  const { as, db, group } = here;
  await db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', group.id).execute();
  const open = await addEpic(here, { title: 'Open' });
  const hidden = await addEpic(here, { title: 'Hidden', confidential: true });
  const unknown = await as('guest').get(`${epicsOf(here)}/99`);
  for (const persona of ['guest', 'outsider', 'anonymous'] as const) {
    const refused = await as(persona).get(pathOf(here, hidden));
    assert.deepEqual([refused.status, refused.body], [unknown.status, unknown.body]);
    const list = await as(persona).get(epicsOf(here));
    assert.deepEqual([list.body.length, list.body[0].id, list.headers.get('x-total')], [1, open.id, '1']);
  }
  assert.equal((await as('planner').get(pathOf(here, hidden))).body.confidential, true);
  assert.equal((await as('planner').get(epicsOf(here))).body.length, 2);
  assert.equal((await as('admin').get(epicsOf(here), { confidential: true })).body[0].id, hidden.id);
});

test('an invalid epic is refused with a reason, and not created', async () => {
  const here = await world();
  const { as } = here;
  const cases: [Record<string, unknown>, unknown][] = [
    [{}, 'title is missing'],
    [{ title: ' ' }, { title: ["can't be blank"] }],
    [{ title: 'x'.repeat(256) }, { title: ['is too long (maximum is 255 characters)'] }],
    [{ title: 'x', color: 'reddish' }, { color: ['must be a valid color code'] }],
    [{ title: 'x', confidential: 'perhaps' }, 'confidential is invalid'],
    [{ title: 'x', start_date_fixed: '2031-02-30' }, 'start_date_fixed is invalid'],
    [
      { title: 'x', start_date: '2031-02-03', start_date_fixed: '2031-02-03' },
      'start_date, start_date_fixed are mutually exclusive',
    ],
    [
      { title: 'x', start_date: '2031-02-03', end_date: '2031-02-02' },
      { due_date: ['must be greater than or equal to start date'] },
    ],
    [
      { title: 'x', parent_id: 999_999_999 },
      { parent: ['No matching epic found. Make sure that you are adding a valid epic URL.'] },
    ],
    [{ title: 'x', created_at: 'yesterday' }, 'created_at is invalid'],
  ];
  for (const [body, message] of cases) {
    const refused = await as('owner').post(epicsOf(here), body);
    assert.deepEqual([refused.status, refused.body.message], [400, message], JSON.stringify(body).slice(0, 80));
  }
  const long = await as('owner').post(epicsOf(here), { title: 'x', description: 'y'.repeat(1_048_577) });
  assert.match(long.body.message.description[0], /^is too long/);
  const epic = await addEpic(here);
  assert.equal(epic.iid, 1, 'no number was used up');
  const nothing = await as('owner').put(pathOf(here, epic), {});
  assert.equal(
    nothing.body.message,
    'add_labels, color, confidential, description, due_date_fixed, due_date_is_fixed, labels, parent_id, remove_labels, start_date_fixed, start_date_is_fixed, state_event, title, start_date, end_date are missing, at least one parameter must be provided',
  );
  for (const [body, message] of [
    [{ state_event: 'shut' }, 'state_event does not have a valid value'],
    [{ title: '' }, { title: ["can't be blank"] }],
    [{ title: 'x', updated_at: '' }, 'updated_at is empty'],
    [{ confidential: null }, 'confidential is empty'],
  ] as const)
    assert.deepEqual((await as('owner').put(pathOf(here, epic), body)).body.message, message);
  assert.equal((await as('owner').get(`${epicsOf(here)}/one`)).body.message, 'epic_iid is invalid');
  assert.equal((await as('owner').get(`${epicsOf(here)}/2147483648`)).status, 404);
});

test('a change has one system note, one resource event and one activity event', async () => {
  const here = await world();
  const { as, db, people } = here;
  const epic = await addEpic(here, { title: 'Old title', labels: 'a,b', description: 'first' });
  const path = pathOf(here, epic);
  const changed = await as('planner').put(path, {
    title: 'New title',
    description: 'second',
    confidential: true,
    start_date_is_fixed: true,
    start_date_fixed: '2031-09-20',
    due_date_is_fixed: true,
    due_date_fixed: '2031-10-01',
    add_labels: 'c',
    remove_labels: 'a',
    color: 'tomato',
    state_event: 'close',
  });
  assert.equal(changed.status, 200);
  const { title, labels, color, state, closed_at, start_date, due_date, end_date } = changed.body;
  assert.deepEqual([title, labels, color, state], ['New title', ['b', 'c'], '#ff6347', 'closed']);
  assert.deepEqual([start_date, due_date, end_date], ['2031-09-20', '2031-10-01', '2031-10-01']);
  assert.notEqual(closed_at, null);
  const notes = [
    'changed title from **{-Old-} title** to **{+New+} title**',
    'changed the description',
    'made the epic confidential',
    'changed start date to September 20, 2031',
    'changed due date to October 1, 2031',
  ];
  assert.deepEqual(await notesOn(here, epic.id), notes);
  const again = await as('planner').put(path, {
    title: 'New title',
    state_event: 'close',
    labels: 'b,c',
    start_date_fixed: '2031-09-20',
  });
  assert.deepEqual(again.body, changed.body, 'nothing differs');
  assert.deepEqual(await notesOn(here, epic.id), notes);
  const cleared = await addEpic(here, { title: 'Cleared', labels: 'a,b' });
  assert.deepEqual((await as('planner').put(pathOf(here, cleared), { labels: null })).body.labels, []);
  const reopened = await as('planner').put(path, {
    state_event: 'reopen',
    start_date_is_fixed: false,
    due_date_fixed: null,
  });
  assert.deepEqual([reopened.body.closed_at, reopened.body.start_date, reopened.body.due_date], [null, null, null]);
  assert.deepEqual((await notesOn(here, epic.id)).slice(5), ['removed start date', 'removed due date']);
  const labelled = await db
    .selectFrom('resource_label_events')
    .innerJoin('labels', 'labels.id', 'label_id')
    .select(['action', 'title', 'user_id'])
    .where('epic_id', '=', epic.id)
    .orderBy('resource_label_events.id')
    .execute();
  assert.deepEqual(labelled.map(({ action, title, user_id }) => [action, title, user_id]).sort(), [
    ['add', 'a', people.owner.id],
    ['add', 'b', people.owner.id],
    ['add', 'c', people.planner.id],
    ['remove', 'a', people.planner.id],
  ]);
  const states = await db
    .selectFrom('resource_state_events')
    .select('state')
    .where('epic_id', '=', epic.id)
    .orderBy('id')
    .execute();
  assert.deepEqual(states, [{ state: 'closed' }, { state: 'reopened' }]);
  const events = await db
    .selectFrom('events')
    .select(['action', 'author_id', 'project_id'])
    .where('target_type', '=', 'Epic')
    .where('target_id', '=', epic.id)
    .orderBy('id')
    .execute();
  assert.deepEqual(
    events.map(({ action, author_id }) => [action, author_id]),
    [
      ['created', people.owner.id],
      ['closed', people.planner.id],
      ['reopened', people.planner.id],
    ],
  );
});

test('labels are replaced, added and removed in this order, with one per scope', async () => {
  const here = await world();
  const epic = await addEpic(here, { labels: ['a', 'size::1'] });
  const labelsAfter = async (changes: object) =>
    (await here.as('planner').put(pathOf(here, epic), { ...changes })).body.labels;
  assert.deepEqual(await labelsAfter({ add_labels: 'size::2' }), ['a', 'size::2']);
  assert.deepEqual(await labelsAfter({ labels: 'b,c', add_labels: 'd', remove_labels: 'c,d' }), ['b']);
  assert.deepEqual(await labelsAfter({ labels: '' }), []);
  const detailed = await here.as('guest').get(epicsOf(here), { with_labels_details: true });
  assert.deepEqual(detailed.body[0].labels, []);
  await labelsAfter({ labels: 'b' });
  const [listed] = (await here.as('guest').get(epicsOf(here), { with_labels_details: true })).body;
  assert.deepEqual([listed.labels[0].name, listed.labels[0].color, 'subscribed' in listed], ['b', '#6699cc', false]);
});

test('owners of the group can set times, and those of others are ignored', async () => {
  const here = await world();
  const then = '2020-02-03T04:05:06.789Z';
  const old = await addEpic(here, { created_at: then });
  assert.deepEqual([old.created_at, old.updated_at], [then, then]);
  const young = await addEpic(here, { created_at: then }, 'maintainer');
  assert.notEqual(young.created_at, then);
  const later = '2021-02-03T04:05:06.789Z';
  assert.equal(
    (await here.as('owner').put(pathOf(here, old), { title: 'x', updated_at: later })).body.updated_at,
    later,
  );
  assert.notEqual(
    (await here.as('maintainer').put(pathOf(here, old), { title: 'y', updated_at: then })).body.updated_at,
    then,
  );
  assert.equal(
    (await here.as('admin').put(pathOf(here, old), { title: 'z', updated_at: later })).body.updated_at,
    later,
  );
});

test('quick actions in a description are applied and removed', async () => {
  const here = await world();
  await here.as('owner').post(`/groups/${here.group.id}/labels`, { name: 'ripe', color: '#00ff00' });
  const epic = await addEpic(here, { description: 'Pick them\n/label ~ripe\n/confidential' });
  assert.deepEqual([epic.confidential, epic.description?.trim(), epic.labels], [true, 'Pick them', ['ripe']]);
  const changed = await here.as('planner').put(pathOf(here, epic), { description: 'Picked\n/close\n/award :tada:' });
  assert.deepEqual([changed.body.state, changed.body.description.trim()], ['closed', 'Picked']);
  const awards = await here.as('planner').get(`${pathOf(here, epic)}/award_emoji`);
  assert.deepEqual(
    awards.body.map(({ name }: { name: string }) => name),
    ['tada'],
  );
});

test('mentioned users get a to-do item and become subscribed participants', async () => {
  const here = await world();
  const { as, people } = here;
  const epic = await addEpic(here, { description: `Ask @${people.guest.username} and @${people.outsider.username}` });
  const path = pathOf(here, epic);
  const todos = await here.db
    .selectFrom('todos')
    .select(['user_id', 'action_name'])
    .where('epic_id', '=', epic.id)
    .execute();
  assert.deepEqual(
    todos.map(({ user_id }) => user_id),
    [people.guest.id],
    'users who may not read the epic get none',
  );
  const taking = await as('reporter').get(`${path}/participants`);
  assert.deepEqual(
    taking.body.map(({ id }: { id: number }) => id),
    [people.guest.id, people.owner.id].sort((a, b) => a - b),
  );
  assert.equal((await as('guest').get(path)).body.subscribed, true);
  assert.equal((await as('guest').post(`${path}/subscribe`)).status, 304);
  const off = await as('guest').post(`${path}/unsubscribe`);
  assert.deepEqual([off.status, off.body.subscribed], [201, false]);
  assert.equal((await as('guest').post(`${path}/unsubscribe`)).status, 304);
  assert.equal((await as('reporter').get(path)).body.subscribed, false);
  assert.equal((await as('reporter').post(`${path}/subscribe`)).body.subscribed, true);
  assert.equal((await as('outsider').post(`${path}/subscribe`)).status, 404);
  assert.equal((await as('anonymous').post(`${path}/subscribe`)).status, 401);
});

test('owners and planners can delete an epic, roles in between cannot', async () => {
  const here = await world();
  const { as, db } = here;
  const [first, second] = [await addEpic(here), await addEpic(here)];
  const child = await addEpic(here, { parent_id: first.id });
  for (const persona of ['reporter', 'developer', 'maintainer'] as const)
    assert.equal((await as(persona).delete(pathOf(here, first))).status, 403, persona);
  const stale = await as('owner').delete(
    pathOf(here, first),
    {},
    { headers: { 'if-unmodified-since': 'Mon, 01 Jan 2001 00:00:00 GMT' } },
  );
  assert.equal(stale.status, 412);
  assert.equal((await as('owner').delete(pathOf(here, first))).status, 204);
  assert.equal((await as('owner').get(pathOf(here, first))).status, 404);
  assert.equal((await as('owner').get(pathOf(here, child))).body.parent_id, null);
  assert.equal((await as('planner').delete(pathOf(here, second))).status, 204);
  const left = await db.selectFrom('notes').select('id').where('epic_id', 'in', [first.id, second.id]).execute();
  assert.deepEqual(left, []);
  assert.equal((await addEpic(here)).iid, 4, 'numbers do not come back');
});

test('epics of an archived group can be read but not changed', async () => {
  const here = await world();
  const epic = await addEpic(here);
  await here.db.updateTable('namespaces').set({ archived: true }).where('id', '=', here.group.id).execute();
  assert.equal((await here.as('guest').get(pathOf(here, epic))).status, 200);
  assert.equal((await here.as('owner').post(epicsOf(here), { title: 'x' })).status, 403);
  assert.equal((await here.as('owner').put(pathOf(here, epic), { title: 'x' })).status, 403);
  assert.equal((await here.as('guest').post(`${pathOf(here, epic)}/subscribe`)).status, 403);
  assert.equal((await here.as('owner').delete(pathOf(here, epic))).status, 403);
});

test('dates that are not fixed are inherited from issues and children', async () => {
  const here = await world();
  const { as, project } = here;
  const owner = as('owner');
  const milestone = async (title: string, start_date: string | undefined, due_date: string | undefined) =>
    (await owner.post(`/projects/${project.id}/milestones`, { title, start_date, due_date })).body.id as number;
  const spring = await milestone('Spring', '2031-03-01', '2031-05-31');
  const summer = await milestone('Summer', '2031-06-01', undefined);
  const root = await addEpic(here, { title: 'Root' });
  const leaf = await addEpic(here, { title: 'Leaf', parent_id: root.id });
  const datesOf = async ({ iid }: { iid: number }) => {
    const { body } = await owner.get(pathOf(here, { iid }));
    assert.deepEqual(
      [body.start_date_from_milestones, body.due_date_from_milestones],
      [body.start_date_from_inherited_source, body.due_date_from_inherited_source],
    );
    return [body.start_date, body.due_date];
  };
  const issue = (await owner.post(`/projects/${project.id}/issues`, { title: 'One', milestone_id: spring })).body;
  const other = (await owner.post(`/projects/${project.id}/issues`, { title: 'Two', milestone_id: summer })).body;
  const link = await owner.post(`${pathOf(here, leaf)}/issues/${issue.id}`);
  assert.equal(link.status, 201);
  await owner.post(`${pathOf(here, leaf)}/issues/${other.id}`);
  assert.deepEqual(await datesOf(leaf), ['2031-03-01', '2031-05-31']);
  assert.deepEqual(await datesOf(root), ['2031-03-01', '2031-05-31'], 'from the child');
  await owner.put(`/projects/${project.id}/milestones/${summer}`, { due_date: '2031-08-31' });
  assert.deepEqual(await datesOf(root), ['2031-03-01', '2031-08-31'], 'a milestone moved');
  await owner.put(`/projects/${project.id}/issues/${issue.iid}`, { milestone_id: summer });
  assert.deepEqual(await datesOf(root), ['2031-06-01', '2031-08-31'], 'an issue got another milestone');
  await owner.put(pathOf(here, leaf), { due_date_is_fixed: true, due_date_fixed: '2031-12-24' });
  assert.deepEqual(await datesOf(root), ['2031-06-01', '2031-12-24'], 'what the child fixes counts');
  await owner.put(pathOf(here, root), { start_date: '2031-01-01' });
  const { body } = await owner.get(pathOf(here, root));
  assert.deepEqual(
    [body.start_date, body.start_date_is_fixed, body.start_date_from_inherited_source],
    ['2031-01-01', true, '2031-06-01'],
  );
  await owner.delete(`${pathOf(here, leaf)}/issues/${link.body.id}`);
  await owner.delete(`/projects/${project.id}/issues/${other.iid}`);
  assert.deepEqual(await datesOf(leaf), [null, '2031-12-24'], 'nothing is left to inherit from');
  await owner.delete(`/groups/${here.group.id}/epics/${root.iid}/epics/${leaf.id}`);
  assert.deepEqual(await datesOf(root), ['2031-01-01', null]);
});

test('an epic with public issues or children cannot become confidential, nor a confidential epic with confidential ones public', async () => {
  const here = await world();
  const { as, project } = here;
  const [epic, parent] = [await addEpic(here), await addEpic(here)];
  const issue = (await as('owner').post(`/projects/${project.id}/issues`, { title: 'Open' })).body;
  await as('owner').post(`${pathOf(here, epic)}/issues/${issue.id}`);
  await as('owner').put(pathOf(here, epic), { parent_id: parent.id });
  const hide = (of: { iid: number }, confidential = true) => as('owner').put(pathOf(here, of), { confidential });
  assert.deepEqual((await hide(epic)).body.message, {
    confidential: ['Cannot make the epic confidential if it contains non-confidential issues'],
  });
  assert.deepEqual((await hide(parent)).body.message, {
    confidential: ['Cannot make the epic confidential if it contains non-confidential child epics'],
  });
  await as('owner').put(`/projects/${project.id}/issues/${issue.iid}`, { confidential: true });
  assert.equal((await hide(epic)).status, 200);
  assert.equal((await hide(parent)).status, 200);
  assert.deepEqual((await hide(epic, false)).body.message, {
    confidential: ['A non-confidential epic cannot be assigned to a confidential parent epic'],
  });
});

test('epics created concurrently get different iids', async () => {
  const here = await world();
  const added = await Promise.all(Array.from({ length: 8 }, () => addEpic(here, { labels: 'same' })));
  assert.deepEqual(
    added.map(({ iid }) => iid).sort((a, b) => a - b),
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
  const { rows } = await sql<{
    labels: number;
  }>`select count(*) as labels from labels where group_id = ${here.group.id}`.execute(here.db);
  assert.equal(rows[0]?.labels, 1);
});

test('creating too many epics in a minute is refused', async () => {
  const here = await world();
  const limit = (issues_create_limit: number) =>
    here.db.updateTable('application_settings').set({ issues_create_limit }).execute();
  await limit(1);
  try {
    const answers = [];
    // The minute may end between two requests.
    for (let turn = 0; turn < 3; turn++) answers.push(await here.as('owner').post(epicsOf(here), { title: 'x' }));
    const refused = answers.find(({ status }) => status === 429);
    assert.deepEqual(refused?.body, {
      message: { error: 'This endpoint has been requested too many times. Try again later.' },
    });
  } finally {
    await limit(0);
  }
});
