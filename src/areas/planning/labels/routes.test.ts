import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMergeRequest, worldWithTopic } from '../../../../test/support/merge_requests.ts';
import { type World, world } from '../../../../test/support/world.ts';
import { createGroup } from '../../spaces/groups/index.ts';
import { createProject } from '../../spaces/projects/index.ts';

const names = (answer: { body: { name: string }[] }) => answer.body.map(({ name }) => name);

/** An issue with labels. */
async function issueWith(
  { db, people }: World,
  project_id: number,
  label_ids: number[],
  values: object = {},
): Promise<number> {
  const { iid } = await db
    .selectFrom('issues')
    .select((q) => q.fn.count<number>('id').as('iid'))
    .where('project_id', '=', project_id)
    .executeTakeFirstOrThrow();
  const { id } = await db
    .insertInto('issues')
    .values({ project_id, iid: iid + 1, title: 'Ripen', author_id: people.owner.id, ...values })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (label_ids.length > 0)
    await db
      .insertInto('issue_labels')
      .values(label_ids.map((label_id) => ({ issue_id: id, label_id })))
      .execute();
  return id;
}

async function subgroupOf({ db, group, people }: World, path: string) {
  const id = await db
    .transaction()
    .execute((tx) => createGroup(tx, { name: path, path, parent_id: group.id, creator_id: people.owner.id }));
  return { id, full_path: `${group.full_path}/${path}` };
}

test('a project label is created, shown by id and by title, updated and deleted', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/labels`;
  const added = await as('planner').post(url, {
    name: ' a / b ',
    color: '#5843AD',
    description: 'To <do>',
    priority: 3,
  });
  assert.equal(added.status, 201);
  const { id } = added.body;
  assert.deepEqual(added.body, {
    id,
    name: 'a / b',
    description: 'To <do>',
    description_html: added.body.description_html,
    text_color: '#FFFFFF',
    color: '#5843AD',
    archived: false,
    subscribed: false,
    priority: 3,
    is_project_label: true,
  });
  assert.ok(!added.body.description_html.includes('<do>'));

  const changed = await as('planner').put(`${url}/a%20%2F%20b`, {
    new_name: 'c',
    color: 'lightYellow',
    description: null,
    priority: null,
    archived: true,
  });
  assert.equal(changed.status, 200);
  assert.deepEqual(changed.body, {
    ...added.body,
    name: 'c',
    color: '#ffffe0',
    text_color: '#1F1E24',
    description: null,
    description_html: null,
    priority: null,
    archived: true,
  });
  assert.deepEqual((await as('guest').get(`${url}/c`)).body, changed.body);
  assert.deepEqual((await as('guest').get(`${url}/${id}`)).body, changed.body);
  assert.deepEqual((await as('guest').get(url)).body, [changed.body]);

  assert.equal((await as('guest').delete(`${url}/c`)).status, 403);
  const early = { headers: { 'if-unmodified-since': 'Mon, 01 Jan 2024 00:00:00 GMT' } };
  assert.equal((await as('planner').delete(`${url}/c`, {}, early)).status, 412);
  assert.equal((await as('planner').delete(`${url}/c`)).status, 204);
  const gone = await as('guest').get(`${url}/${id}`);
  assert.deepEqual([gone.status, gone.body], [404, { message: '404 Label Not Found' }]);
});

test('a group label has no priority, and a short color is expanded', async () => {
  const { as, group } = await world();
  const added = await as('reporter').post(`/groups/${group.id}/labels`, { name: 'bug', color: '#f0A', priority: 1 });
  assert.equal(added.status, 201);
  assert.deepEqual(added.body, {
    id: added.body.id,
    name: 'bug',
    description: null,
    description_html: null,
    text_color: '#FFFFFF',
    color: '#ff00AA',
    archived: false,
    subscribed: false,
  });
  assert.deepEqual((await as('guest').get(`/groups/${group.id}/labels/bug`)).body, added.body);
});

test('the deprecated endpoints take the label as a parameter', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/labels`;
  const { id } = (await as('planner').post(url, { name: 'old', color: 'red' })).body;
  assert.equal((await as('planner').put(url, { name: 'old', new_name: 'new' })).body.name, 'new');
  assert.equal((await as('planner').put(url, { label_id: id, priority: 0 })).body.priority, 0);
  for (const [parameters, message] of [
    [{ color: 'red' }, 'label_id, name are missing, exactly one parameter must be provided'],
    [{ label_id: id, name: 'new', color: 'red' }, 'label_id, name are mutually exclusive'],
    [
      { name: 'new' },
      'new_name, color, description, priority, archived are missing, at least one parameter must be provided',
    ],
  ] as const) {
    const refused = await as('planner').put(url, { ...parameters });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  assert.equal((await as('planner').delete(url, { name: 'old' })).status, 404);
  assert.equal((await as('planner').delete(url, {})).status, 400);
  assert.equal((await as('planner').delete(url, { name: 'new' })).status, 204);
  assert.deepEqual((await as('guest').get(url)).body, []);
});

test('an invalid title or color is refused by field, and a taken title is a conflict', async () => {
  const { as, project, group } = await world();
  const url = `/projects/${project.id}/labels`;
  await as('planner').post(url, { name: 'mine', color: 'red' });
  await as('planner').post(`/groups/${group.id}/labels`, { name: 'ours', color: 'red' });
  for (const [label, message] of [
    [{ name: ' ', color: 'red' }, { title: ["can't be blank"] }],
    [
      { name: 'a,b', color: 'nocolor' },
      { title: ['is invalid'], color: ['must be a valid color code'] },
    ],
    [
      { name: 'x'.repeat(256), color: '#12345' },
      { title: ['is too long (maximum is 255 characters)'], color: ['must be a valid color code'] },
    ],
    [{ color: 'red' }, 'name is missing'],
    [{ name: 'x', color: 'red', priority: -1 }, 'priority does not have a valid value'],
  ] as const) {
    const refused = await as('planner').post(url, { ...label });
    assert.deepEqual([refused.status, refused.body.message], [400, message]);
  }
  for (const name of ['mine', 'ours']) {
    const refused = await as('planner').post(url, { name, color: 'red' });
    assert.deepEqual([refused.status, refused.body], [409, { message: 'Label already exists' }]);
  }
  assert.equal((await as('planner').post(url, { name: 'Mine', color: 'red' })).status, 201);
  const own = await as('planner').put(`${url}/mine`, { new_name: 'Mine' });
  assert.deepEqual([own.status, own.body.message], [400, { title: ['has already been taken'] }]);
  const above = await as('planner').put(`${url}/mine`, { new_name: 'ours' });
  assert.deepEqual(above.body.message, {
    title: [`already exists at group level for ${group.path}. Please choose another one.`],
  });
  assert.deepEqual(names(await as('guest').get(url)), ['Mine', 'mine', 'ours']);
});

test('a project lists the labels of all its ancestor groups, or only of its own group', async () => {
  const here = await world();
  const { as, group, people, services } = here;
  const below = await subgroupOf(here, 'below');
  const id = await createProject(services, {
    name: 'deep',
    path: 'deep',
    namespace: below,
    creator_id: people.owner.id,
    default_branch: 'main',
  });
  await as('owner').post(`/groups/${group.id}/labels`, { name: 'top', color: 'red' });
  await as('owner').post(`/groups/${below.id}/labels`, { name: 'nearest', color: 'red' });
  await as('owner').post(`/projects/${id}/labels`, { name: 'own', color: 'red', description: 'of the mill' });
  const url = `/projects/${id}/labels`;
  assert.deepEqual(names(await as('owner').get(url)), ['nearest', 'own', 'top']);
  assert.deepEqual(names(await as('owner').get(url, { include_ancestor_groups: false })), ['nearest', 'own']);
  assert.deepEqual(names(await as('owner').get(url, { search: 'MILL' })), ['own']);
  assert.deepEqual(names(await as('owner').get(url, { search: '%' })), []);
  assert.equal((await as('owner').get(`${url}/top`, { include_ancestor_groups: false })).status, 404);
  assert.equal((await as('owner').get(`${url}/top`)).body.is_project_label, false);

  const groupUrl = `/groups/${below.id}/labels`;
  assert.deepEqual(names(await as('owner').get(groupUrl)), ['nearest', 'top']);
  assert.deepEqual(names(await as('owner').get(groupUrl, { include_ancestor_groups: false })), ['nearest']);
  assert.deepEqual(names(await as('owner').get(groupUrl, { only_group_labels: false })), ['nearest', 'own', 'top']);
  const top = `/groups/${group.id}/labels`;
  assert.deepEqual(names(await as('owner').get(top)), ['top']);
  assert.deepEqual(names(await as('owner').get(top, { only_group_labels: false })), ['top']);
  assert.deepEqual(names(await as('owner').get(top, { include_descendant_groups: true })), ['nearest', 'top']);
  assert.deepEqual(names(await as('owner').get(top, { include_descendant_groups: true, only_group_labels: false })), [
    'nearest',
    'own',
    'top',
  ]);
  for (const path of [`${url}/top`, `${groupUrl}/top`]) {
    assert.equal((await as('owner').put(path, { color: 'blue' })).status, 404);
    assert.equal((await as('owner').delete(path)).status, 404);
  }
});

test('counts include only the issues that the caller may read, for each label of a page', async () => {
  const here = await world();
  const { as, project } = here;
  const url = `/projects/${project.id}/labels`;
  const add = async (name: string) => (await as('planner').post(url, { name, color: 'red' })).body.id as number;
  const [a, b] = [await add('a'), await add('b')];
  await issueWith(here, project.id, [a, b]);
  await issueWith(here, project.id, [a], { state: 'closed' });
  await issueWith(here, project.id, [a], { confidential: true });
  const counts = async (persona: 'guest' | 'reporter') =>
    (await as(persona).get(url, { with_counts: true })).body.map((label: Record<string, number>) => [
      label.open_issues_count,
      label.closed_issues_count,
      label.open_merge_requests_count,
    ]);
  assert.deepEqual(await counts('reporter'), [
    [2, 1, 0],
    [1, 0, 0],
  ]);
  assert.deepEqual(await counts('guest'), [
    [1, 1, 0],
    [1, 0, 0],
  ]);
  assert.ok(!('open_issues_count' in (await as('guest').get(url)).body[0]));
});

test('a subscription is stored once, and only for the subscriber', async () => {
  const { as, group, project } = await world();
  await as('planner').post(`/groups/${group.id}/labels`, { name: 'bug', color: 'red' });
  const url = `/projects/${project.id}/labels/bug`;
  assert.equal((await as('guest').post(`${url}/unsubscribe`)).status, 304);
  const subscribed = await as('guest').post(`${url}/subscribe`);
  assert.deepEqual([subscribed.status, subscribed.body.subscribed], [201, true]);
  assert.equal((await as('guest').post(`${url}/subscribe`)).status, 304);
  assert.equal((await as('guest').get(url)).body.subscribed, true);
  assert.equal((await as('reporter').get(url)).body.subscribed, false);
  assert.equal((await as('guest').post(`/groups/${group.id}/labels/bug/subscribe`)).status, 304);
  const ended = await as('guest').post(`${url}/unsubscribe`);
  assert.deepEqual([ended.status, ended.body.subscribed], [201, false]);
  assert.equal((await as('guest').post(`${url}/unsubscribe`)).status, 304);
  assert.equal((await as('anonymous').post(`${url}/subscribe`)).status, 401);
});

test('a promoted label replaces those with its title in the projects of the group', async () => {
  const here = await worldWithTopic();
  const { as, group, project, people, services, db } = here;
  const other = await createProject(services, {
    name: 'other',
    path: 'other',
    namespace: group,
    creator_id: people.owner.id,
    default_branch: 'main',
  });
  const add = async (id: number, priority?: number) =>
    (await as('owner').post(`/projects/${id}/labels`, { name: 'bug', color: 'red', description: `of ${id}`, priority }))
      .body.id;
  const [first, second] = [await add(project.id, 5), await add(other)];
  const issues = [await issueWith(here, project.id, [first]), await issueWith(here, other, [second])];
  const request = await addMergeRequest(here, { labels: 'bug' });
  await as('guest').post(`/projects/${project.id}/labels/bug/subscribe`);

  const url = `/projects/${project.id}/labels/bug/promote`;
  assert.equal((await as('planner').put(url)).status, 403);
  const promoted = await as('reporter').put(url);
  assert.equal(promoted.status, 200);
  assert.equal(promoted.body.description, `of ${project.id}`);
  assert.ok(!('priority' in promoted.body));
  const { id } = promoted.body;
  const borne = await db
    .selectFrom('issue_labels')
    .select(['issue_id', 'label_id'])
    .where('issue_id', 'in', issues)
    .orderBy('issue_id')
    .execute();
  assert.deepEqual(
    borne,
    issues.map((issue_id) => ({ issue_id, label_id: id })),
  );
  const { labels } = (await as('owner').get(`/projects/${project.id}/merge_requests/${request.iid}`)).body;
  assert.deepEqual(labels, ['bug']);
  const left = (await as('guest').get(`/projects/${project.id}/labels`)).body;
  assert.deepEqual(
    left.map((label: { id: number; priority: number; subscribed: boolean }) => [
      label.id,
      label.priority,
      label.subscribed,
    ]),
    [[id, 5, true]],
  );
  const { label_priority } = await db
    .selectFrom('issues')
    .select('label_priority')
    .where('id', '=', issues[0]!)
    .executeTakeFirstOrThrow();
  assert.equal(label_priority, 5);
  assert.deepEqual(names(await as('owner').get(`/projects/${other}/labels`)), ['bug']);

  const again = await as('reporter').put(url);
  assert.deepEqual([again.status, again.body.message], [400, 'Failed to promote project label to group label']);
});

test('labels need issues or merge requests to be enabled, and archived projects cannot change them', async () => {
  const { as, project } = await world();
  const url = `/projects/${project.id}/labels`;
  assert.equal((await as('anonymous').get(url)).status, 401);
  assert.equal((await as('outsider').get(url)).status, 404);
  await as('owner').put(`/projects/${project.id}`, { issues_access_level: 'disabled' });
  assert.equal((await as('guest').get(url)).status, 200);
  await as('owner').put(`/projects/${project.id}`, { merge_requests_access_level: 'disabled' });
  assert.equal((await as('guest').get(url)).status, 403);
  await as('owner').put(`/projects/${project.id}`, { issues_access_level: 'private' });
  assert.equal((await as('guest').get(url)).status, 200);
  await as('owner').post(`/projects/${project.id}/archive`);
  assert.equal((await as('planner').post(url, { name: 'late', color: 'red' })).status, 403);
  assert.equal((await as('guest').get(url)).status, 200);
});
