import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { theIssue } from '../../../access/index.ts';
import { removeUser } from '../../people/users/index.ts';
import { addTodos } from './index.ts';

type Todo = {
  id: number;
  action_name: string;
  target_type: string;
  target: { id: number; title?: string };
  body: string;
};

const list = async ({ as }: World, persona: Persona, query: Record<string, string | number> = {}): Promise<Todo[]> => {
  const answer = await as(persona).get('/todos', query);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
};

async function addIssue({ as, project }: World, title: string, more: object = {}) {
  const added = await as('planner').post(`/projects/${project.id}/issues`, { title, ...more });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return added.body as { id: number; iid: number; web_url: string };
}

async function addEpic({ as, group }: World, title: string, more: object = {}) {
  const added = await as('planner').post(`/groups/${group.id}/epics`, { title, ...more });
  assert.equal(added.status, 201, JSON.stringify(added.body));
  return added.body as { id: number; iid: number; web_url: string };
}

const namesIn = (body: object) => Object.keys(body).sort();

test('an issue is added to the list once, shown in full, and marked as done', async () => {
  const here = await world();
  const issue = await addIssue(here, 'Mend the fence');
  const url = `/projects/${here.project.id}/issues/${issue.iid}/todo`;
  const added = await here.as('guest').post(url);
  assert.equal(added.status, 201);
  const { id, created_at, updated_at, target, project, author, ...rest } = added.body;
  assert.deepEqual(rest, {
    action_name: 'marked',
    target_type: 'Issue',
    target_url: issue.web_url,
    body: 'Mend the fence',
    state: 'pending',
  });
  const { subscribed, ...shown } = (await here.as('guest').get(url.replace('/todo', ''))).body;
  assert.equal(subscribed, false);
  assert.deepEqual(namesIn(target), namesIn(shown), 'it has no further members');
  assert.equal(target.references.full, `${here.project.full_path}#${issue.iid}`);
  assert.equal(author.id, here.people.guest.id);
  assert.deepEqual(Object.keys(project), [
    ...['id', 'description', 'name', 'name_with_namespace', 'path', 'path_with_namespace', 'created_at'],
  ]);
  assert.equal(project.path_with_namespace, here.project.full_path);

  const again = await here.as('guest').post(url);
  assert.deepEqual([again.status, again.body], [304, null]);
  assert.deepEqual(await list(here, 'guest'), [added.body]);
  assert.deepEqual(await list(here, 'reporter'), []);

  for (const persona of ['reporter', 'admin'] as const) {
    const refused = await here.as(persona).post(`/todos/${id}/mark_as_done`);
    assert.deepEqual([refused.status, refused.body], [404, { message: '404 Not found' }]);
  }
  const done = await here.as('guest').post(`/todos/${id}/mark_as_done`);
  assert.equal(done.status, 201);
  assert.deepEqual(done.body, { ...added.body, state: 'done', updated_at: done.body.updated_at });
  assert.deepEqual(await list(here, 'guest'), []);
  assert.deepEqual(await list(here, 'guest', { state: 'done' }), [done.body]);
  assert.equal((await here.as('guest').post(`/todos/${id}/mark_as_done`)).status, 201);
  assert.equal((await here.as('guest').post(url)).status, 201, 'what is done can be wanted again');
});

test('readers of an epic can add it to their list', async () => {
  const here = await world();
  const epic = await addEpic(here, 'Orchard');
  const url = `/groups/${here.group.id}/epics/${epic.iid}/todo`;
  const added = await here.as('guest').post(url);
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const { subscribed: _, ...shown } = (await here.as('guest').get(url.replace('/todo', ''))).body;
  assert.deepEqual(namesIn(added.body.target), namesIn(shown), 'it has no further members');
  assert.deepEqual(
    [added.body.target_type, added.body.target.id, added.body.target_url, added.body.group.id, added.body.project],
    ['Epic', epic.id, epic.web_url, here.group.id, undefined],
  );
  assert.equal((await here.as('guest').post(url.replace('/epics', '/-/epics'))).status, 304);
  assert.equal((await here.as('outsider').post(url)).status, 404);
  const hidden = await addEpic(here, 'Secret', { confidential: true });
  assert.equal((await here.as('guest').post(`/groups/${here.group.id}/epics/${hidden.iid}/todo`)).status, 404);
  assert.equal((await list(here, 'guest')).length, 1);
});

test('an issue that the user may not read cannot be added, and anonymous callers have no list', async () => {
  const here = await world();
  const { iid } = await addIssue(here, 'Secret', { confidential: true });
  const url = `/projects/${here.project.id}/issues/${iid}/todo`;
  assert.equal((await here.as('guest').post(url)).status, 404);
  assert.equal((await here.as('outsider').post(url)).status, 404);
  assert.equal((await here.as('anonymous').post(url)).status, 401);
  assert.equal((await here.as('anonymous').get('/todos')).status, 401);
  assert.equal((await here.as('anonymous').post('/todos/mark_as_done')).status, 401);
});

test('an assignee has a pending to-do item until they act on the issue', async () => {
  const here = await world();
  const { people } = here;
  const assignee_ids = [people.guest.id, people.developer.id];
  const issue = await addIssue(here, 'Prune', { assignee_ids, description: 'Today.' });
  const [todo] = await list(here, 'developer');
  assert.deepEqual([todo!.action_name, todo!.target.id], ['assigned', issue.id]);
  assert.equal((await list(here, 'guest')).length, 1);
  const url = `/projects/${here.project.id}/issues/${issue.iid}`;

  await here.as('planner').put(url, { title: 'Prune all' });
  assert.equal((await list(here, 'developer')).length, 1, 'what others do leaves it');
  assert.equal((await list(here, 'developer'))[0]!.body, 'Prune all');
  await here.as('developer').put(url, { state_event: 'close' });
  assert.deepEqual(await list(here, 'developer'), []);
  assert.equal((await list(here, 'guest')).length, 1);
});

test('items on targets that the user may no longer read are not listed', async () => {
  const here = await world();
  const outsider = await here.person();
  await here.as('owner').post(`/projects/${here.project.id}/members`, { user_id: outsider.id, access_level: 20 });
  const issue = await addIssue(here, 'Mow');
  const url = `/projects/${here.project.id}/issues/${issue.iid}`;
  await here.as('guest').post(`${url}/todo`);
  const { id } = (await outsider.client.post(`${url}/todo`)).body;
  assert.equal((await outsider.client.get('/todos')).body.length, 1);

  await here.as('planner').put(url, { confidential: true });
  assert.deepEqual(await list(here, 'guest'), []);
  await here.as('owner').delete(`/projects/${here.project.id}/members/${outsider.id}`);
  assert.deepEqual((await outsider.client.get('/todos')).body, []);
  assert.equal((await outsider.client.post(`/todos/${id}/mark_as_done`)).status, 404);
  await here.as('owner').delete(url);
  assert.deepEqual(await here.db.selectFrom('todos').select('id').where('issue_id', '=', issue.id).execute(), []);
});

test('every filter narrows the list', async () => {
  const here = await world();
  const { people } = here;
  const [first, second] = [
    await addIssue(here, 'One', { assignee_ids: [people.guest.id] }),
    await addIssue(here, 'Two'),
  ];
  const epic = await addEpic(here, 'Three');
  await here.as('guest').post(`/projects/${here.project.id}/issues/${second.iid}/todo`);
  await here.as('guest').post(`/groups/${here.group.id}/epics/${epic.iid}/todo`);
  const bodies = async (query: Record<string, string | number>) =>
    (await list(here, 'guest', query)).map(({ body }) => body);
  assert.deepEqual(await bodies({}), ['Three', 'Two', 'One']);
  assert.deepEqual(await bodies({ action: 'assigned' }), ['One']);
  assert.deepEqual(await bodies({ action: 'build_failed' }), []);
  assert.deepEqual(await bodies({ author_id: people.planner.id }), ['One']);
  assert.deepEqual(await bodies({ project_id: here.project.id }), ['Two', 'One']);
  assert.deepEqual(await bodies({ group_id: here.group.id }), ['Three', 'Two', 'One']);
  assert.deepEqual(await bodies({ type: 'Epic' }), ['Three']);
  assert.deepEqual(await bodies({ type: 'Issue', per_page: 1, page: 2 }), ['One']);
  assert.deepEqual(await bodies({ type: 'MergeRequest' }), []);
  assert.deepEqual(await bodies({ project_id: 0 }), []);
  for (const [parameter, message] of [
    ['action', 'action does not have a valid value'],
    ['state', 'state does not have a valid value'],
    ['type', 'type does not have a valid value'],
    ['author_id', 'author_id is invalid'],
    ['project_id', 'project_id is invalid'],
    ['group_id', 'group_id is invalid'],
  ] as const) {
    const refused = await here.as('guest').get('/todos', { [parameter]: 'nonsense' });
    assert.deepEqual([refused.status, refused.body.error], [400, message]);
  }
  assert.equal((await here.as('guest').post('/todos/mark_as_done')).status, 204);
  assert.deepEqual(await bodies({}), []);
  assert.equal((await list(here, 'guest', { state: 'done' })).length, 3);
  assert.equal(first.iid, 1);
});

test('approvers have a to-do item on an access request until one of them decides', async () => {
  const here = await world();
  const url = `/projects/${here.project.id}`;
  await here.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', here.project.id).execute();
  const [accepted, refused, removed] = [await here.person(), await here.person(), await here.person()];
  for (const { client } of [accepted, refused, removed])
    assert.equal((await client.post(`${url}/access_requests`)).status, 201);
  const todos = await list(here, 'maintainer', { type: 'Project' });
  assert.deepEqual(
    todos.map(({ action_name, target, body }) => [action_name, target.id, body]),
    Array(3).fill(['member_access_requested', here.project.id, here.project.full_path]),
  );
  assert.equal((await list(here, 'owner')).length, 3);
  assert.deepEqual(await list(here, 'developer'), []);

  await here.as('owner').put(`${url}/access_requests/${accepted.id}/approve`);
  await here.as('owner').delete(`${url}/access_requests/${refused.id}`);
  await here.as('admin').delete(`/users/${removed.id}`);
  assert.deepEqual(await performQueued(here.services, [removeUser]), ['remove_user']);
  assert.deepEqual(await list(here, 'maintainer'), []);
  assert.equal((await list(here, 'owner', { state: 'done' })).length, 3);

  const other = await here.person();
  await here.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', here.group.id).execute();
  assert.equal((await other.client.post(`/groups/${here.group.id}/access_requests`)).status, 201);
  const [todo] = await list(here, 'owner');
  assert.deepEqual(
    [todo!.target_type, todo!.target.id, todo!.body],
    ['Namespace', here.group.id, here.group.full_path],
  );
  assert.deepEqual(await list(here, 'maintainer'), []);
});

test('a user mentioned several times has one pending to-do item on a target', async () => {
  const here = await world();
  const issue = await addIssue(here, 'Dig');
  const target = theIssue(issue.id);
  const author_id = here.people.planner.id;
  const user_ids = [here.people.guest.id, here.people.outsider.id, here.people.admin.id, here.people.guest.id];
  const add = () =>
    here.db.transaction().execute((tx) => addTodos(tx, { user_ids, author_id, action: 'mentioned', target }));
  const added = await Promise.all([add(), add(), add()]);
  assert.deepEqual(added.map(({ size }) => size).sort(), [0, 0, 2], 'and who may not read it has none');
  assert.deepEqual(await list(here, 'outsider'), []);
});

test('the pending items of the caller are counted', async () => {
  const here = await world();
  const { as, project, people } = here;
  const counts = async () => {
    const { todos, assigned_issues } = (await as('developer').get('/user_counts')).body;
    return { todos, assigned_issues };
  };
  assert.deepEqual(await counts(), { todos: 0, assigned_issues: 0 });
  const { iid } = await addIssue(here, 'Mend the fence', { assignee_ids: [people.developer.id] });
  assert.deepEqual(await counts(), { todos: 1, assigned_issues: 1 });
  assert.equal(
    (await as('developer').put(`/projects/${project.id}/issues/${iid}`, { state_event: 'close' })).status,
    200,
  );
  assert.equal((await counts()).assigned_issues, 0);
  assert.equal((await as('anonymous').get('/user_counts')).status, 401);
});
