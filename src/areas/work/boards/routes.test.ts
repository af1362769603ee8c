import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sent } from '../../../../test/support/sent.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { today } from '../../../cron/index.ts';

const boardsOf = ({ project }: World) => `/projects/${project.id}/boards`;

const addBoard = (here: World, name = 'Kanban', by: Persona = 'planner') =>
  sent(here.as(by).post(boardsOf(here), { name }));

const addLabel = ({ as, project }: World, name: string) =>
  sent(as('owner').post(`/projects/${project.id}/labels`, { name, color: '#aabbcc' }));

const addMilestone = ({ as, project }: World, title: string) =>
  sent(as('owner').post(`/projects/${project.id}/milestones`, { title }));

/** The labels of the lists of a board, in their order, with their positions. */
const order = async ({ as }: World, board: string) =>
  (await as('guest').get(`${board}/lists`)).body.map(
    ({ label, position }: { label: { name: string }; position: number }) => `${position} ${label.name}`,
  );

test('a board is created, listed, changed and deleted by users who may edit any issue', async () => {
  const here = await world();
  const { as, project, people } = here;
  assert.equal((await as('anonymous').get(boardsOf(here))).status, 401);
  assert.equal((await as('outsider').get(boardsOf(here))).status, 404);
  assert.equal((await as('guest').post(boardsOf(here), { name: 'No' })).status, 403);
  assert.deepEqual((await as('guest').get(boardsOf(here))).body, []);

  const board = await addBoard(here);
  assert.deepEqual(
    [board.name, board.hide_backlog_list, board.hide_closed_list, board.group, board.lists, board.labels],
    ['Kanban', false, false, null, [], []],
  );
  assert.equal(board.project.id, project.id);
  assert.deepEqual([board.milestone, board.iteration, board.assignee, board.weight], [null, null, null, null]);
  const one = `${boardsOf(here)}/${board.id}`;
  assert.deepEqual((await as('guest').get(one)).body, board);
  await addBoard(here, 'A', 'reporter');
  const listed = await as('guest').get(boardsOf(here), { per_page: 1 });
  assert.deepEqual([listed.body[0].name, listed.headers.get('x-total')], ['A', '2']);
  // A name need not be unique.
  await addBoard(here, 'Kanban');

  for (const [parameters, body] of [
    [{}, { error: 'name is missing', message: 'name is missing' }],
    [{ name: ' ' }, { error: 'name is missing', message: 'name is missing' }],
    [{ name: 'x'.repeat(256) }, { message: { name: ['is too long (maximum is 255 characters)'] } }],
  ] as const) {
    const refused = await as('planner').post(boardsOf(here), parameters);
    assert.deepEqual([refused.status, refused.body], [400, body]);
  }

  const milestone = await addMilestone(here, 'Autumn');
  const changed = await sent(
    as('planner').put(one, {
      name: 'Harvest',
      hide_backlog_list: true,
      hide_closed_list: true,
      assignee_id: people.developer.id,
      milestone_id: milestone.id,
      labels: 'ripe,new',
      weight: 3,
    }),
  );
  assert.deepEqual(
    [changed.name, changed.hide_backlog_list, changed.hide_closed_list, changed.assignee.id, changed.milestone.id],
    ['Harvest', true, true, people.developer.id, milestone.id],
  );
  assert.deepEqual(
    [changed.weight, changed.labels.map(({ name }: { name: string }) => name).toSorted()],
    [3, ['new', 'ripe']],
  );
  assert.deepEqual(await sent(as('planner').put(one, {})), changed);
  const cleared = await sent(
    as('planner').put(one, { assignee_id: -1, milestone_id: -2, labels: '', weight: -2, name: 'Harvest' }),
  );
  assert.deepEqual(
    [cleared.assignee, cleared.assignee_wildcard, cleared.milestone, cleared.milestone_wildcard, cleared.labels],
    [null, 'none', null, 'upcoming', []],
  );
  const none = await sent(as('planner').put(one, { assignee_id: 0, milestone_id: 0, weight: null }));
  assert.deepEqual([none.assignee_wildcard, none.milestone_wildcard, none.weight], [null, null, null]);

  for (const [parameters, body] of [
    [{ name: '' }, { error: 'name is empty', message: 'name is empty' }],
    [{ assignee_id: people.outsider.id }, { message: { assignee: ['does not exist'] } }],
    [{ milestone_id: 987_654_321 }, { message: { milestone: ['does not exist'] } }],
    [{ iteration_id: 987_654_321 }, { message: { iteration: ['does not exist'] } }],
  ] as const) {
    const refused = await as('planner').put(one, parameters);
    assert.deepEqual([refused.status, refused.body], [400, body]);
  }
  assert.equal((await as('planner').put(one, { weight: 10 })).status, 400);
  assert.deepEqual((await as('planner').get(one)).body, none);
  assert.equal((await as('guest').put(one, { name: 'x' })).status, 403);

  assert.equal((await as('guest').delete(one)).status, 403);
  assert.equal((await as('planner').delete(one)).status, 204);
  assert.deepEqual((await as('planner').get(one)).body, { message: '404 Not found' });
});

test('the lists of a board have positions without gaps, even when their targets are deleted', async () => {
  const here = await world();
  const { as, project } = here;
  const board = `${boardsOf(here)}/${(await addBoard(here)).id}`;
  const labels = [];
  for (const name of ['a', 'b', 'c', 'd']) labels.push(await addLabel(here, name));
  const lists = [];
  for (const { id } of labels) lists.push(await sent(as('planner').post(`${board}/lists`, { label_id: id })));
  assert.deepEqual(
    lists.map(({ position, list_type, label }) => [position, list_type, label.name]),
    [0, 1, 2, 3].map((at) => [at, 'label', 'abcd'[at]]),
  );
  const [first, second] = lists;
  assert.deepEqual(
    [first.max_issue_count, first.max_issue_weight, first.limit_metric, first.collapsed],
    [0, 0, null, false],
  );
  const moved = await sent(as('planner').put(`${board}/lists/${first.id}`, { position: 2, collapsed: true }));
  assert.deepEqual([moved.position, moved.collapsed], [2, true]);
  assert.equal((await as('guest').get(`${board}/lists/${first.id}`)).body.collapsed, false);
  assert.deepEqual(await order(here, board), ['0 b', '1 c', '2 a', '3 d']);
  for (const position of [-1, 2, 4]) {
    const refused = await as('planner').put(`${board}/lists/${first.id}`, { position });
    assert.deepEqual([refused.status, refused.body], [400, { message: { error: 'List could not be moved!' } }]);
  }
  const missing = await as('planner').put(`${board}/lists/${first.id}`, { max_issue_count: 1 });
  assert.deepEqual([missing.status, missing.body.message], [400, 'position is missing']);

  await as('owner').delete(`/projects/${project.id}/labels/${labels[2].id}`);
  assert.deepEqual(await order(here, board), ['0 b', '1 a', '2 d']);
  assert.equal((await as('planner').delete(`${board}/lists/${second.id}`)).status, 204);
  assert.equal((await as('planner').delete(`${board}/lists/${second.id}`)).status, 404);
  assert.deepEqual(await order(here, board), ['0 a', '1 d']);
  const limited = await sent(
    as('planner').put(`${board}/lists/${first.id}`, { position: 1, max_issue_count: 5, max_issue_weight: 9 }),
  );
  assert.deepEqual([limited.max_issue_count, limited.max_issue_weight], [5, 9]);
  assert.deepEqual(await order(here, board), ['0 d', '1 a']);
  const other = await addBoard(here, 'Other');
  assert.equal((await as('guest').get(`${boardsOf(here)}/${other.id}/lists/${first.id}`)).status, 404);
});

test('a list has exactly one label, assignee, milestone or iteration of the place as its target, each once per board', async () => {
  const here = await world();
  const { as, people, group } = here;
  const board = `${boardsOf(here)}/${(await addBoard(here)).id}`;
  const label = await addLabel(here, 'a');
  const milestone = await addMilestone(here, 'Autumn');
  const add = (parameters: Record<string, unknown>) => as('planner').post(`${board}/lists`, parameters);
  const params = 'label_id, milestone_id, iteration_id, assignee_id';
  for (const [parameters, message] of [
    [{}, `${params} are missing, exactly one parameter must be provided`],
    [{ label_id: label.id, milestone_id: milestone.id }, 'label_id, milestone_id are mutually exclusive'],
    [{ label_id: 987_654_321 }, { error: 'Label not found!' }],
    [{ assignee_id: people.outsider.id }, { error: 'User not found!' }],
    [{ milestone_id: 987_654_321 }, { error: 'Milestone not found!' }],
    [{ iteration_id: 987_654_321 }, { error: 'Iteration not found!' }],
  ] as const) {
    const refused = await add(parameters);
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  const cadence = { title: 'Weeks', start_date: today(), duration_in_weeks: 1, iterations_in_advance: 1 };
  await sent(as('planner').post(`/groups/${group.id}/iteration_cadences`, cadence));
  const [iteration] = (await as('guest').get(`/groups/${group.id}/iterations`)).body;
  const targets = [
    ['label_id', label.id, 'label_id', 'label'],
    ['assignee_id', people.developer.id, 'user_id', 'assignee'],
    ['milestone_id', milestone.id, 'milestone_id', 'milestone'],
    ['iteration_id', iteration.id, 'iteration_id', 'iteration'],
  ] as const;
  for (const [index, [name, id, column, type]] of targets.entries()) {
    const list = await sent(add({ [name]: id }));
    assert.deepEqual([list.position, list.list_type, list[type].id], [index, type, id]);
    assert.equal(list.label === null, type !== 'label');
    const again = await add({ [name]: id });
    assert.deepEqual([again.status, again.body], [400, { message: { [column]: ['has already been taken'] } }]);
  }
  assert.equal((await as('guest').get(`${board}/lists`)).body.length, 4);
});

test('boards and lists that are added and moved concurrently keep their limits and order', async () => {
  const here = await world();
  const { as, db, project } = here;
  const board = await addBoard(here);
  const at = `${boardsOf(here)}/${board.id}`;
  await sql`insert into labels (project_id, title, color) select ${project.id}, 'l' || n, '#aabbcc' from generate_series(1, 101) n`.execute(
    db,
  );
  const { rows: labels } = await sql<{
    id: number;
  }>`select id from labels where project_id = ${project.id} order by id`.execute(db);
  await sql`insert into board_lists (board_id, label_id, position) select ${board.id}, id, 3 * id from labels where project_id = ${project.id} order by id limit 97`.execute(
    db,
  );
  const added = await Promise.all(
    labels.slice(97).map(({ id }) => as('planner').post(`${at}/lists`, { label_id: id })),
  );
  assert.deepEqual(added.map(({ status }) => status).toSorted(), [201, 201, 201, 400]);
  assert.equal(added.find(({ status }) => status === 400)?.body.message, 'Maximum number of lists (100) exceeded');
  const lists = (await as('guest').get(`${at}/lists`, { per_page: 100 })).body as { id: number; position: number }[];
  await Promise.all(
    lists.slice(0, 5).map(({ id }, index) => as('planner').put(`${at}/lists/${id}`, { position: 99 - index })),
  );
  const after = (await as('guest').get(`${at}/lists`, { per_page: 100 })).body as { id: number; position: number }[];
  assert.deepEqual(
    after.map(({ position }) => position),
    Array.from({ length: 100 }, (_, index) => index),
  );
  assert.equal(new Set(after.map(({ id }) => id)).size, 100);

  await sql`insert into boards (project_id, name) select ${project.id}, 'b' || n from generate_series(1, 97) n`.execute(
    db,
  );
  const boards = await Promise.all([1, 2, 3].map((n) => as('planner').post(boardsOf(here), { name: `c${n}` })));
  assert.deepEqual(boards.map(({ status }) => status).toSorted(), [201, 201, 400]);
  assert.deepEqual(boards.find(({ status }) => status === 400)?.body, {
    message: { base: ['Maximum number of boards (100) exceeded'] },
  });
});

test('a group has boards with its own labels, milestones and members', async () => {
  const here = await world();
  const { as, group, people } = here;
  const boards = `/groups/${group.id}/boards`;
  const board = await sent(as('planner').post(boards, { name: 'All' }));
  assert.deepEqual([board.project, board.group.id, board.group.name], [null, group.id, group.path]);
  const own = await addLabel(here, 'of the project');
  const label = await sent(as('owner').post(`/groups/${group.id}/labels`, { name: 'of the group', color: '#aabbcc' }));
  const refused = await as('planner').post(`${boards}/${board.id}/lists`, { label_id: own.id });
  assert.deepEqual([refused.status, refused.body], [400, { message: { error: 'Label not found!' } }]);
  await sent(as('planner').post(`${boards}/${board.id}/lists`, { label_id: label.id }));
  await sent(as('planner').post(`${boards}/${board.id}/lists`, { assignee_id: people.developer.id }));
  assert.equal((await as('guest').get(boards)).body[0].lists.length, 2);
  assert.equal((await as('guest').get(`${boardsOf(here)}/${board.id}`)).status, 404);
  assert.equal((await as('outsider').get(boards)).status, 404);
  assert.equal((await as('guest').post(boards, { name: 'x' })).status, 403);
});

test('a project with issues disabled shows no boards', async () => {
  const here = await world();
  await addBoard(here);
  await sent(here.as('owner').put(`/projects/${here.project.id}`, { issues_access_level: 'disabled' }));
  for (const persona of ['guest', 'owner'] as const)
    assert.equal((await here.as(persona).get(boardsOf(here))).status, 403);
  assert.equal((await here.as('owner').post(boardsOf(here), { name: 'x' })).status, 403);
});

test('boards follow a transfer: labels and milestones of the group that was left are copied by name', async () => {
  const here = await world();
  const { as, project, group } = here;
  const board = `${boardsOf(here)}/${(await addBoard(here)).id}`;
  const shared = await sent(as('owner').post(`/groups/${group.id}/labels`, { name: 'shared', color: '#aabbcc' }));
  const own = await addLabel(here, 'own');
  const milestone = await sent(as('owner').post(`/groups/${group.id}/milestones`, { title: 'Autumn' }));
  for (const list of [{ label_id: shared.id }, { milestone_id: milestone.id }, { label_id: own.id }])
    await sent(as('planner').post(`${board}/lists`, list));
  await sent(as('planner').put(board, { milestone_id: milestone.id, labels: 'shared,own' }));
  const target = await sent(as('admin').post('/groups', { name: 'Elsewhere', path: `elsewhere-${group.id}` }));
  await sent(as('admin').put(`/projects/${project.id}/transfer`, { namespace: target.id }));
  const after = (await as('admin').get(board)).body;
  assert.deepEqual(
    after.lists.map((list: { position: number; label: { name: string } | null; milestone?: { title: string } }) => [
      list.position,
      list.label?.name ?? list.milestone?.title,
    ]),
    [
      [0, 'shared'],
      [1, 'Autumn'],
      [2, 'own'],
    ],
  );
  assert.notEqual(after.lists[0].label.id, shared.id);
  assert.equal(after.lists[2].label.id, own.id);
  assert.deepEqual([after.milestone.project_id, after.milestone.title], [project.id, 'Autumn']);
  assert.deepEqual(after.labels.map(({ name }: { name: string }) => name).toSorted(), ['own', 'shared']);
});
