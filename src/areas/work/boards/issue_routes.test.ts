import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addIssue } from '../../../../test/support/issues.ts';
import { sent } from '../../../../test/support/sent.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';

/** A board of the project with a list for each of two labels, one for the developer and one for a milestone. */
async function boardOf({ as, project, people }: World) {
  const at = `/projects/${project.id}`;
  const board = await sent(as('planner').post(`${at}/boards`, { name: 'Kanban' }));
  const url = `${at}/boards/${board.id}`;
  const list = async (parameters: Record<string, unknown>): Promise<number> =>
    (await sent(as('planner').post(`${url}/lists`, parameters))).id;
  const label = async (name: string) =>
    (await sent(as('owner').post(`${at}/labels`, { name, color: '#aabbcc' }))).id as number;
  const milestone = await sent(as('owner').post(`${at}/milestones`, { title: 'Autumn' }));
  return {
    url,
    todo: await list({ label_id: await label('todo') }),
    doing: await list({ label_id: await label('doing') }),
    developer: await list({ assignee_id: people.developer.id }),
    autumn: await list({ milestone_id: milestone.id }),
    milestone_id: milestone.id as number,
  };
}

/** The titles of the issues in a list, in their order. */
async function cards({ as }: World, url: string, list_id: number | string, parameters = {}, by: Persona = 'planner') {
  const { status, body } = await as(by).get(`${url}/issues`, { list_id, ...parameters });
  assert.equal(status, 200, JSON.stringify(body));
  return body.map(({ title }: { title: string }) => title);
}

test('each list of a board contains its issues, ordered by position', async () => {
  const here = await world();
  const board = await boardOf(here);
  const { as, people, project } = here;
  const issue = (title: string, parameters = {}) => addIssue(here, { title, ...parameters });
  const one = await issue('one', { labels: 'todo' });
  await issue('two', { labels: 'todo,doing', confidential: true });
  await issue('three', { assignee_ids: [people.developer.id] });
  await issue('four', { milestone_id: board.milestone_id });
  await issue('five');
  const six = await issue('six', { labels: 'todo' });
  for (const { iid } of [six, await issue('seven')])
    await sent(as('owner').put(`/projects/${project.id}/issues/${iid}`, { state_event: 'close' }));

  assert.deepEqual(await cards(here, board.url, board.todo), ['one', 'two']);
  assert.deepEqual(await cards(here, board.url, board.todo, {}, 'guest'), ['one']);
  assert.deepEqual(await cards(here, board.url, board.doing), ['two']);
  assert.deepEqual(await cards(here, board.url, board.developer), ['three']);
  assert.deepEqual(await cards(here, board.url, board.autumn), ['four']);
  assert.deepEqual(await cards(here, board.url, 'open'), ['five']);
  assert.deepEqual(await cards(here, board.url, 'closed'), ['seven', 'six']);
  assert.deepEqual(await cards(here, board.url, board.todo, { search: 'two' }), ['two']);
  const two = (await as('planner').get(`${board.url}/issues`, { list_id: board.doing })).body[0];
  await sent(as('planner').put(`/projects/${project.id}/issues/${two.iid}/reorder`, { move_before_id: one.id }));
  const page = await as('planner').get(`${board.url}/issues`, { list_id: board.todo, per_page: 1 });
  assert.deepEqual([page.body[0].title, page.headers.get('x-total')], ['two', '2']);

  for (const [list_id, status, message] of [
    [undefined, 400, 'list_id is missing'],
    ['backlog', 400, 'list_id should be an integer, open, or closed, however got backlog'],
    [987_654_321, 404, '404 Not found'],
  ] as const) {
    const refused = await as('planner').get(`${board.url}/issues`, list_id === undefined ? {} : { list_id });
    assert.deepEqual([refused.status, refused.body.message], [status, message]);
  }
});

test('the scope of a board filters its issues', async () => {
  const here = await world();
  const board = await boardOf(here);
  const { as, people } = here;
  const issue = (title: string, parameters = {}) => addIssue(here, { title, ...parameters });
  await issue('plain');
  await issue('heavy', { weight: 5, labels: 'ripe' });
  await issue('mine', { assignee_ids: [people.owner.id], milestone_id: board.milestone_id, labels: 'ripe,red' });
  for (const list of [board.developer, board.autumn]) await as('planner').delete(`${board.url}/lists/${list}`);
  for (const [scope, titles] of [
    [{ weight: 5 }, ['heavy']],
    [{ weight: -2 }, ['plain', 'mine']],
    [{ weight: -1, labels: 'ripe' }, ['heavy', 'mine']],
    [{ labels: 'ripe,red' }, ['mine']],
    [{ labels: '', assignee_id: -1 }, ['plain', 'heavy']],
    [{ assignee_id: people.owner.id }, ['mine']],
    [{ assignee_id: 0, milestone_id: board.milestone_id }, ['mine']],
    [{ milestone_id: -1 }, ['plain', 'heavy']],
    [{ milestone_id: -3 }, []],
    [{ milestone_id: 0 }, ['plain', 'heavy', 'mine']],
  ] as const) {
    await sent(as('planner').put(board.url, scope));
    assert.deepEqual(await cards(here, board.url, 'open'), titles, JSON.stringify(scope));
  }
});

test('moving an issue edits it, with the same effects', async () => {
  const here = await world();
  const board = await boardOf(here);
  const { as, people, project, db } = here;
  const { id, iid } = await addIssue(here, { title: 'one', labels: 'todo,ripe', assignee_ids: [people.owner.id] });
  const url = `/projects/${project.id}/issues/${iid}`;
  const move = (parameters: Record<string, unknown>, by: Persona = 'planner') =>
    as(by).put(`${board.url}/issues/${id}/move`, parameters);
  const state = async () => {
    const { body } = await as('planner').get(url);
    return {
      labels: body.labels,
      assignees: body.assignees.map((user: { id: number }) => user.id),
      milestone: body.milestone?.id ?? null,
      state: body.state,
    };
  };
  const usual = { labels: ['ripe', 'todo'], assignees: [people.owner.id], milestone: null, state: 'opened' };
  assert.deepEqual(await state(), usual);
  const developer = [people.developer.id];
  for (const [from_list_id, to_list_id, after] of [
    [board.todo, board.doing, { labels: ['doing', 'ripe'] }],
    [
      board.doing,
      board.developer,
      { labels: ['doing', 'ripe'], assignees: [people.owner.id, ...developer].toSorted() },
    ],
    [board.developer, board.autumn, { milestone: board.milestone_id }],
    [board.autumn, 'closed', { state: 'closed' }],
    ['closed', board.todo, { state: 'opened', labels: ['doing', 'ripe', 'todo'] }],
    [board.autumn, 'open', { milestone: null }],
    [board.developer, 'open', { assignees: [people.owner.id] }],
    [board.doing, 'open', { labels: ['ripe', 'todo'] }],
    [board.todo, board.todo, {}],
  ] as const) {
    const before = await state();
    const { assignees, ...moved } = (await sent(move({ from_list_id, to_list_id }))) as { assignees: { id: number }[] };
    assert.equal((moved as unknown as { id: number }).id, id);
    const now = await state();
    assert.deepEqual({ ...now, assignees: now.assignees.toSorted() }, { ...before, ...after });
    assert.equal(assignees.length, now.assignees.length);
  }
  assert.deepEqual(await state(), usual);

  const { rows: labels } = await sql<{ action: string; title: string }>`
    select action, title from resource_label_events join labels on labels.id = label_id
     where issue_id = ${id} and user_id = ${people.planner.id} order by resource_label_events.id`.execute(db);
  assert.deepEqual(labels.map(({ action, title }) => `${action} ${title}`).toSorted(), [
    'add doing',
    'add todo',
    'remove doing',
    'remove todo',
  ]);
  const events = async (name: string) => (await as('planner').get(`${url}/resource_${name}_events`)).body.length;
  assert.deepEqual([await events('milestone'), await events('state')], [2, 2]);
  const notes = (await as('planner').get(`${url}/notes`)).body.map(({ body }: { body: string }) => body);
  assert.ok(notes.includes(`assigned to @${people.developer.username}`), notes.join('\n'));

  // An author below Planner may close their issue, and no more.
  const own = await addIssue(here, { title: 'own' }, 'guest');
  const others = { from_list_id: 'open', to_list_id: board.todo };
  assert.equal((await move(others, 'guest')).status, 403);
  const at = `${board.url}/issues/${own.id}/move`;
  assert.equal((await as('guest').put(at, others)).status, 403);
  assert.equal((await as('guest').put(at, { to_list_id: 'closed' })).status, 200);
});

test('a new position alone has no effects, and neighbors must be in the list', async () => {
  const here = await world();
  const board = await boardOf(here);
  const { as, project, db } = here;
  const issue = (title: string, labels = 'todo') => addIssue(here, { title, labels });
  const [a, b, c] = [await issue('a'), await issue('b'), await issue('c')];
  const d = await issue('d', 'doing');
  const trace = async () =>
    (
      await sql<object>`
        select (select max(updated_at)::text from issues where project_id = ${project.id}) as updated_at,
               (select count(*) from notes where system) as notes, (select count(*) from events) as events,
               (select count(*) from resource_label_events) as labels, (select count(*) from notifications) as mails`.execute(
        db,
      )
    ).rows[0];
  const before = await trace();
  const move = (id: number, parameters: Record<string, unknown>) =>
    as('planner').put(`${board.url}/issues/${id}/move`, parameters);
  await sent(move(c.id, { from_list_id: board.todo, to_list_id: board.todo, move_before_id: a.id }));
  assert.deepEqual(await cards(here, board.url, board.todo), ['c', 'a', 'b']);
  await sent(move(c.id, { to_list_id: board.todo, move_after_id: a.id, move_before_id: b.id }));
  assert.deepEqual(await cards(here, board.url, board.todo), ['a', 'c', 'b']);
  assert.deepEqual(await trace(), before);

  for (const [parameters, status, message] of [
    [
      {},
      400,
      'from_list_id, to_list_id, move_before_id, move_after_id are missing, at least one parameter must be provided',
    ],
    [{ to_list_id: board.doing, move_before_id: b.id }, 400, 'move_before_id is not in the list'],
    [{ to_list_id: board.todo, move_after_id: d.id }, 400, 'move_after_id is not in the list'],
    [{ to_list_id: board.todo, move_after_id: b.id, move_before_id: c.id }, 422, 'Unprocessable Entity'],
    [{ to_list_id: 987_654_321 }, 404, '404 Not found'],
  ] as const) {
    const refused = await move(a.id, parameters);
    assert.deepEqual([refused.status, refused.body.message], [status, message], JSON.stringify(parameters));
  }
  assert.equal((await move(987_654_321, { to_list_id: 'closed' })).status, 404);
  assert.deepEqual(await trace(), before);
  await sent(move(a.id, { from_list_id: board.todo, to_list_id: board.doing, move_before_id: d.id }));
  assert.deepEqual(await cards(here, board.url, board.doing), ['a', 'd']);
});

test('two concurrent moves both succeed', async () => {
  const here = await world();
  const board = await boardOf(here);
  const issues = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((title) => addIssue(here, { title, labels: 'todo' })));
  const first = issues[0]!.id;
  const moved = await Promise.all([
    ...issues.slice(1).map(({ id }, index) =>
      here.as(index % 2 === 0 ? 'planner' : 'owner').put(`${board.url}/issues/${id}/move`, {
        from_list_id: board.todo,
        to_list_id: index < 2 ? board.doing : board.todo,
        ...(index < 2 ? {} : { move_after_id: first }),
      }),
    ),
    here.as('owner').put(`/projects/${here.project.id}/issues/${issues[4]!.iid}/reorder`, { move_before_id: first }),
  ]);
  assert.deepEqual(
    moved.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  assert.equal((await cards(here, board.url, board.todo)).length, 3);
  assert.equal((await cards(here, board.url, board.doing)).length, 2);
});

test('a board of a group has the issues of its projects, in one order', async () => {
  const here = await world();
  const { as, group, project } = here;
  const other = await sent(as('owner').post('/projects', { name: 'other', namespace_id: group.id }));
  const label = await sent(as('owner').post(`/groups/${group.id}/labels`, { name: 'todo', color: '#aabbcc' }));
  const board = await sent(as('planner').post(`/groups/${group.id}/boards`, { name: 'All' }));
  const url = `/groups/${group.id}/boards/${board.id}`;
  const list = await sent(as('planner').post(`${url}/lists`, { label_id: label.id }));
  const issue = (title: string, where: World['project']) => addIssue({ as, project: where }, { title });
  const elsewhere = { ...project, id: other.id };
  const one = await issue('one', project);
  const two = await issue('two', elsewhere);
  const three = await issue('three', project);
  const four = await issue('four', elsewhere);
  assert.deepEqual(await cards(here, url, 'open', {}, 'owner'), ['one', 'two', 'three', 'four']);
  const move = (id: number, parameters: Record<string, unknown>) =>
    sent(as('owner').put(`${url}/issues/${id}/move`, parameters));
  await move(four.id, { move_after_id: one.id });
  assert.deepEqual(await cards(here, url, 'open', {}, 'owner'), ['one', 'four', 'two', 'three']);
  await move(three.id, { to_list_id: 'open', from_list_id: 'open', move_before_id: two.id });
  assert.deepEqual(await cards(here, url, 'open', {}, 'owner'), ['one', 'four', 'three', 'two']);
  await move(two.id, { from_list_id: 'open', to_list_id: list.id });
  await move(one.id, { from_list_id: 'open', to_list_id: list.id, move_after_id: two.id });
  assert.deepEqual(await cards(here, url, list.id, {}, 'owner'), ['two', 'one']);
  assert.deepEqual(await cards(here, url, 'open', {}, 'owner'), ['four', 'three']);
  await sent(as('owner').put(`/projects/${other.id}`, { visibility: 'private' }));
  await sql`update projects set archived = true where id = ${other.id}`.execute(here.db);
  assert.deepEqual(await cards(here, url, 'open', {}, 'owner'), ['three']);
});
