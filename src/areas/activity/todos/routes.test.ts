import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { type Persona, type World, world } from '../../../../test/support/world.ts';
import { theIssue } from '../../../access/index.ts';
import { removeUser } from '../../people/users/index.ts';
import { addTodos } from './index.ts';

type Todo = { id: number; action_name: string; target_type: string; target: { id: number; title?: string }; body: string };

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

test('an issue is added to the list once, shown in full, and marked as done', async () => {
  const w = await world();
  const issue = await addIssue(w, 'Mend the fence');
  const url = `/projects/${w.project.id}/issues/${issue.iid}/todo`;
  const added = await w.as('guest').post(url);
  assert.equal(added.status, 201);
  const { id, created_at, updated_at, target, project, author, ...rest } = added.body;
  assert.deepEqual(rest, {
    action_name: 'marked',
    target_type: 'Issue',
    target_url: issue.web_url,
    body: 'Mend the fence',
    state: 'pending',
  });
  assert.equal(target.id, issue.id);
  assert.equal(target.references.full, `${w.project.full_path}#${issue.iid}`);
  assert.equal(author.id, w.people.guest.id);
  assert.deepEqual(Object.keys(project), [
    ...['id', 'description', 'name', 'name_with_namespace', 'path', 'path_with_namespace', 'created_at'],
  ]);
  assert.equal(project.path_with_namespace, w.project.full_path);

  const again = await w.as('guest').post(url);
  assert.deepEqual([again.status, again.body], [304, null]);
  assert.deepEqual(await list(w, 'guest'), [added.body]);
  assert.deepEqual(await list(w, 'reporter'), []);

  for (const persona of ['reporter', 'admin'] as const) {
    const refused = await w.as(persona).post(`/todos/${id}/mark_as_done`);
    assert.deepEqual([refused.status, refused.body], [404, { message: '404 Not found' }]);
  }
  const done = await w.as('guest').post(`/todos/${id}/mark_as_done`);
  assert.equal(done.status, 201);
  assert.deepEqual(done.body, { ...added.body, state: 'done', updated_at: done.body.updated_at });
  assert.deepEqual(await list(w, 'guest'), []);
  assert.deepEqual(await list(w, 'guest', { state: 'done' }), [done.body]);
  assert.equal((await w.as('guest').post(`/todos/${id}/mark_as_done`)).status, 201);
  assert.equal((await w.as('guest').post(url)).status, 201, 'what is done can be wanted again');
});

test('readers of an epic can add it to their list', async () => {
  const w = await world();
  const epic = await addEpic(w, 'Orchard');
  const url = `/groups/${w.group.id}/epics/${epic.iid}/todo`;
  const added = await w.as('guest').post(url);
  assert.equal(added.status, 201, JSON.stringify(added.body));
  assert.deepEqual(
    [added.body.target_type, added.body.target.id, added.body.target_url, added.body.group.id, added.body.project],
    ['Epic', epic.id, epic.web_url, w.group.id, undefined],
  );
  assert.equal((await w.as('guest').post(url.replace('/epics', '/-/epics'))).status, 304);
  assert.equal((await w.as('outsider').post(url)).status, 404);
  const hidden = await addEpic(w, 'Secret', { confidential: true });
  assert.equal((await w.as('guest').post(`/groups/${w.group.id}/epics/${hidden.iid}/todo`)).status, 404);
  assert.equal((await list(w, 'guest')).length, 1);
});

test('an issue that the user may not read cannot be added, and anonymous callers have no list', async () => {
  const w = await world();
  const { iid } = await addIssue(w, 'Secret', { confidential: true });
  const url = `/projects/${w.project.id}/issues/${iid}/todo`;
  assert.equal((await w.as('guest').post(url)).status, 404);
  assert.equal((await w.as('outsider').post(url)).status, 404);
  assert.equal((await w.as('anonymous').post(url)).status, 401);
  assert.equal((await w.as('anonymous').get('/todos')).status, 401);
  assert.equal((await w.as('anonymous').post('/todos/mark_as_done')).status, 401);
});

test('an assignee has a pending to-do item until they act on the issue', async () => {
  const w = await world();
  const { people } = w;
  const assignee_ids = [people.guest.id, people.developer.id];
  const issue = await addIssue(w, 'Prune', { assignee_ids, description: 'Today.' });
  const [todo] = await list(w, 'developer');
  assert.deepEqual([todo!.action_name, todo!.target.id], ['assigned', issue.id]);
  assert.equal((await list(w, 'guest')).length, 1);
  const url = `/projects/${w.project.id}/issues/${issue.iid}`;

  await w.as('planner').put(url, { title: 'Prune all' });
  assert.equal((await list(w, 'developer')).length, 1, 'what others do leaves it');
  assert.equal((await list(w, 'developer'))[0]!.body, 'Prune all');
  await w.as('developer').put(url, { state_event: 'close' });
  assert.deepEqual(await list(w, 'developer'), []);
  assert.equal((await list(w, 'guest')).length, 1);
});

test('items on targets that the user may no longer read are not listed', async () => {
  const w = await world();
  const outsider = await w.person();
  await w.as('owner').post(`/projects/${w.project.id}/members`, { user_id: outsider.id, access_level: 20 });
  const issue = await addIssue(w, 'Mow');
  const url = `/projects/${w.project.id}/issues/${issue.iid}`;
  await w.as('guest').post(`${url}/todo`);
  const { id } = (await outsider.client.post(`${url}/todo`)).body;
  assert.equal((await outsider.client.get('/todos')).body.length, 1);

  await w.as('planner').put(url, { confidential: true });
  assert.deepEqual(await list(w, 'guest'), []);
  await w.as('owner').delete(`/projects/${w.project.id}/members/${outsider.id}`);
  assert.deepEqual((await outsider.client.get('/todos')).body, []);
  assert.equal((await outsider.client.post(`/todos/${id}/mark_as_done`)).status, 404);
  await w.as('owner').delete(url);
  assert.deepEqual(await w.db.selectFrom('todos').select('id').where('issue_id', '=', issue.id).execute(), []);
});

test('every filter narrows the list', async () => {
  const w = await world();
  const { people } = w;
  const [first, second] = [await addIssue(w, 'One', { assignee_ids: [people.guest.id] }), await addIssue(w, 'Two')];
  const epic = await addEpic(w, 'Three');
  await w.as('guest').post(`/projects/${w.project.id}/issues/${second.iid}/todo`);
  await w.as('guest').post(`/groups/${w.group.id}/epics/${epic.iid}/todo`);
  const bodies = async (query: Record<string, string | number>) => (await list(w, 'guest', query)).map(({ body }) => body);
  assert.deepEqual(await bodies({}), ['Three', 'Two', 'One']);
  assert.deepEqual(await bodies({ action: 'assigned' }), ['One']);
  assert.deepEqual(await bodies({ action: 'build_failed' }), []);
  assert.deepEqual(await bodies({ author_id: people.planner.id }), ['One']);
  assert.deepEqual(await bodies({ project_id: w.project.id }), ['Two', 'One']);
  assert.deepEqual(await bodies({ group_id: w.group.id }), ['Three', 'Two', 'One']);
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
    const refused = await w.as('guest').get('/todos', { [parameter]: 'nonsense' });
    assert.deepEqual([refused.status, refused.body.error], [400, message]);
  }
  assert.equal((await w.as('guest').post('/todos/mark_as_done')).status, 204);
  assert.deepEqual(await bodies({}), []);
  assert.equal((await list(w, 'guest', { state: 'done' })).length, 3);
  assert.equal(first.iid, 1);
});

test('approvers have a to-do item on an access request until one of them decides', async () => {
  const w = await world();
  const url = `/projects/${w.project.id}`;
  await w.db.updateTable('projects').set({ visibility: 'public' }).where('id', '=', w.project.id).execute();
  const [accepted, refused, removed] = [await w.person(), await w.person(), await w.person()];
  for (const { client } of [accepted, refused, removed]) assert.equal((await client.post(`${url}/access_requests`)).status, 201);
  const todos = await list(w, 'maintainer', { type: 'Project' });
  assert.deepEqual(
    todos.map(({ action_name, target, body }) => [action_name, target.id, body]),
    Array(3).fill(['member_access_requested', w.project.id, w.project.full_path]),
  );
  assert.equal((await list(w, 'owner')).length, 3);
  assert.deepEqual(await list(w, 'developer'), []);

  await w.as('owner').put(`${url}/access_requests/${accepted.id}/approve`);
  await w.as('owner').delete(`${url}/access_requests/${refused.id}`);
  await w.as('admin').delete(`/users/${removed.id}`);
  assert.deepEqual(await performQueued(w.services, [removeUser]), ['remove_user']);
  assert.deepEqual(await list(w, 'maintainer'), []);
  assert.equal((await list(w, 'owner', { state: 'done' })).length, 3);

  const other = await w.person();
  await w.db.updateTable('namespaces').set({ visibility: 'public' }).where('id', '=', w.group.id).execute();
  assert.equal((await other.client.post(`/groups/${w.group.id}/access_requests`)).status, 201);
  const [todo] = await list(w, 'owner');
  assert.deepEqual([todo!.target_type, todo!.target.id, todo!.body], ['Namespace', w.group.id, w.group.full_path]);
  assert.deepEqual(await list(w, 'maintainer'), []);
});

test('a user mentioned several times has one pending to-do item on a target', async () => {
  const w = await world();
  const issue = await addIssue(w, 'Dig');
  const target = theIssue(issue.id);
  const author_id = w.people.planner.id;
  const user_ids = [w.people.guest.id, w.people.outsider.id, w.people.admin.id, w.people.guest.id];
  const add = () => w.db.transaction().execute((tx) => addTodos(tx, { user_ids, author_id, action: 'mentioned', target }));
  const added = await Promise.all([add(), add(), add()]);
  assert.deepEqual(added.map(({ size }) => size).sort(), [0, 0, 2], 'and who may not read it has none');
  assert.deepEqual(await list(w, 'outsider'), []);
});

test('the pending items of the caller are counted', async () => {
  const w = await world();
  const { as, project, people } = w;
  const counts = async () => {
    const { todos, assigned_issues } = (await as('developer').get('/user_counts')).body;
    return { todos, assigned_issues };
  };
  assert.deepEqual(await counts(), { todos: 0, assigned_issues: 0 });
  const { iid } = await addIssue(w, 'Mend the fence', { assignee_ids: [people.developer.id] });
  assert.deepEqual(await counts(), { todos: 1, assigned_issues: 1 });
  assert.equal((await as('developer').put(`/projects/${project.id}/issues/${iid}`, { state_event: 'close' })).status, 200);
  assert.equal((await counts()).assigned_issues, 0);
  assert.equal((await as('anonymous').get('/user_counts')).status, 401);
});
